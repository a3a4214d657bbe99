(define (domain reach_goal)
  (:requirements :strips :typing)
  (:types agent goal)
  (:predicates
    (reached ?g - goal)
    (beyond_ground ?g - goal)
    (beyond_lava ?g - goal)
    (beyond_rooms ?g - goal)
    (beyond_moving_obstacles ?g - goal))

  (:action reach_goal
    :parameters (?a - agent ?g - goal)
    :precondition (and (beyond_ground ?g))
    :effect (and (reached ?g)))

  (:action cross_hazard
    :parameters (?a - agent ?g - goal)
    :precondition (and (beyond_lava ?g))
    :effect (and (reached ?g)))

  (:action traverse_rooms
    :parameters (?a - agent ?g - goal)
    :precondition (and (beyond_rooms ?g))
    :effect (and (reached ?g)))

  (:action cross_moving_obstacles
    :parameters (?a - agent ?g - goal)
    :precondition (and (beyond_moving_obstacles ?g))
    :effect (and (reached ?g))))
