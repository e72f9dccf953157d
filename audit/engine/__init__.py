"""How rows are planned, counted on many workers, kept and resumed."""
