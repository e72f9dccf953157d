"""Plans rows, counts their runs on many workers, and saves and resumes the counts."""
