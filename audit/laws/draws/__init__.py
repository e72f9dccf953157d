"""What the functions under audit draw, and the functions that only draw: lazy numbers in place of both."""
