"""How the demo model was made: from text files to a model folder. Nothing in the app imports it."""
