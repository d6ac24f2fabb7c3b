"""Parts that figures share: colors, names and axes, arcs, writing direction."""
