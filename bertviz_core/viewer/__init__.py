"""The attention viewer: one input's maps as the reader looks at them, and their drawings."""
