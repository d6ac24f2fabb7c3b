"""What tests share: small models, planted heads, visitors and browsers, a second device."""
