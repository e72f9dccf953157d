"""The labs: their copies, their marks, and forgeries."""
