"""Statistics of a company, as engineers write them: fourteen that keep their claims, and twelve of them with a bug."""
