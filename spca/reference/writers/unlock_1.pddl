(define (domain unlock)
  (:requirements :strips :typing)
  (:types agent item - object thing door - item)
  (:predicates
    (hand_empty ?a - agent)
    (holding ?a - agent ?o - thing)
    (fits ?k - thing ?d - door)
    (clear ?d - door)
    (opened ?d - door))

  (:action clear_blocker
    :parameters (?a - agent ?d - door)
    :precondition (and (hand_empty ?a))
    :effect (and (clear ?d)))

  (:action fetch_key
    :parameters (?a - agent ?k - thing ?d - door)
    :precondition (and (hand_empty ?a) (fits ?k ?d))
    :effect (and (holding ?a ?k) (not (hand_empty ?a))))

  (:action drop_held
    :parameters (?a - agent ?o - thing)
    :precondition (and (holding ?a ?o))
    :effect (and (hand_empty ?a) (not (holding ?a ?o))))

  (:action unlock_door
    :parameters (?a - agent ?d - door ?k - thing)
    :precondition (and (holding ?a ?k) (fits ?k ?d) (clear ?d))
    :effect (and (opened ?d))))
