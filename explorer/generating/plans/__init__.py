"""Plans of scenes: areas behind gates, keys that open the gates, and hops (planned milestones) with their order.

In a plan, areas and things do not have coordinates yet.
"""
