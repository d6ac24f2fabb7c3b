"""How the demo model was made. Nothing in the app imports this folder."""
