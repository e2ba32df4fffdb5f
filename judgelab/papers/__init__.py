"""One module per source: its protocol, by its own rules and names."""
