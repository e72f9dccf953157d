"""A report as a table, a page, JSON and JUnit."""
