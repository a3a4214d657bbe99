(define (domain instruction)
  (:requirements :strips :typing)
  (:types agent item - object thing door - item)
  (:predicates
    (hand_empty ?a - agent)
    (holding ?a - agent ?o - thing)
    (visited ?x - item)
    (announced ?x - item)
    (picked ?o - thing)
    (picked_alone ?o - thing)
    (opened ?x - item)
    (placed ?o - thing ?t - item)
    (placed_near ?o - thing ?t - item))

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
    :effect (and (announced ?x)))

  (:action pick_up_object
    :parameters (?a - agent ?o - thing)
    :precondition (and (hand_empty ?a))
    :effect (and (picked ?o) (holding ?a ?o) (not (hand_empty ?a))))

  (:action pick_up_alone
    :parameters (?a - agent ?o - thing)
    :precondition (and (hand_empty ?a))
    :effect (and (picked_alone ?o) (holding ?a ?o) (not (hand_empty ?a))))

  (:action drop_held
    :parameters (?a - agent ?o - thing)
    :precondition (and (holding ?a ?o))
    :effect (and (hand_empty ?a) (not (holding ?a ?o))))

  (:action open_door
    :parameters (?a - agent ?d - door)
    :effect (and (opened ?d)))

  (:action open_box
    :parameters (?a - agent ?b - thing)
    :effect (and (opened ?b)))

  (:action put_next_to
    :parameters (?a - agent ?o - thing ?t - item)
    :precondition (and (holding ?a ?o))
    :effect (and (placed ?o ?t) (hand_empty ?a) (not (holding ?a ?o))))

  (:action put_near
    :parameters (?a - agent ?o - thing ?t - item)
    :precondition (and (holding ?a ?o))
    :effect (and (placed_near ?o ?t) (hand_empty ?a) (not (holding ?a ?o)))))
