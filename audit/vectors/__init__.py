"""Test vectors of differential privacy, which any language can run: `vectors/1`, made and checked by `folder`."""
