"""Laws: the function's own code, followed on both inputs, says what each outcome's probability is."""
