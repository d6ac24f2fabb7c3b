"""The attention viewer: views of one input's attention maps, their drawings and files."""
