"""How the models that ship were made. Nothing in the app imports this folder."""
