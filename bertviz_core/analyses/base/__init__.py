"""What every analysis is made of: its class, request, result, columns, averages, findings and statistics."""
