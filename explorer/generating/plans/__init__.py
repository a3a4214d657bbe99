"""Plans: areas behind gates, keys that open them, and the resulting order of hops, before anything has a place."""
