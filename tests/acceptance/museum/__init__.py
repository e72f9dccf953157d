"""The museum: its page, its machinery, and its cheap exhibits."""
