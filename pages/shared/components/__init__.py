"""Components with JavaScript of their own."""
