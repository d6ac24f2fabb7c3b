"""The reader's choices: what they are (`choices`), how an address holds them (`address`), and where they live during a
visit (`session`). A widget is only their face."""
