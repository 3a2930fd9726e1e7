"""Static checks of CEL rules: types, compiled against the schema, and estimated costs."""
