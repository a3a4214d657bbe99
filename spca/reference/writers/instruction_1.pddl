(define (domain instruction)
  (:requirements :strips :typing)
  (:types agent item - object thing door - item)
  (:predicates
    (hand_empty ?a - agent)
    (visited ?x - item)
    (announced ?x - item))

  (:action go_to_object
    :parameters (?a - agent ?o - thing)
    :precondition (and (hand_empty ?a))
    :effect (and (visited ?o)))

  (:action go_to_door
    :parameters (?a - agent ?d - door)
    :effect (and (visited ?d)))

  (:action announce
    :parameters (?a - agent ?x - item)
    :precondition (and (visited ?x))
    :effect (and (announced ?x))))
