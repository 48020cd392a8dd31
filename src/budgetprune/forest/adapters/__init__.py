"""One folder for each library whose models are imported or exported."""
