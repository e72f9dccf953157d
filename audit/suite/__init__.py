"""Many checks as one suite: a plugin of pytest, and what `subnormal suite` writes."""
