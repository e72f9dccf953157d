"""What may be concluded: attacks crossed with mechanisms, and the evidence for each verdict."""
