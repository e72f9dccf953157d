"""docs/explorer.html in a real browser."""
