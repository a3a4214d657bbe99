"""Plans: areas behind gates, keys that open the gates, and the resulting order of hops; nothing has a place yet."""
