"""What figures share: colors, names and axes, arcs, writing direction."""
