"""What an attack and an event are."""
