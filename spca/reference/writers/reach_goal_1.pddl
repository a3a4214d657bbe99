(define (domain reach_goal)
  (:requirements :strips :typing)
  (:types agent goal)
  (:predicates (reached ?g - goal))

  (:action reach_goal
    :parameters (?a - agent ?g - goal)
    :effect (and (reached ?g))))
