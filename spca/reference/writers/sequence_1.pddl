(define (domain sequence)
  (:requirements :adl :typing)
  (:types agent item - object thing door - item)
  (:predicates
    (hand_empty ?a - agent)
    (holding ?a - agent ?o - thing)
    (may_be_carried ?o - thing)
    (visited ?x - item)
    (picked ?x - item)
    (opened ?x - item)
    (put_down ?x - item)
    (to_be_placed ?o - thing ?t - item)
    (to_be_placed_near ?o - thing ?t - item)
    (placed ?o - thing ?t - item)
    (placed_near ?o - thing ?t - item)
    (after_visited ?y ?x - item)
    (after_picked ?y ?x - item)
    (after_opened ?y ?x - item)
    (after_placed ?y ?x - item))

  (:action go_to_object
    :parameters (?a - agent ?o - thing)
    :precondition (and (imply (may_be_carried ?o) (hand_empty ?a)) (forall (?x - item) (and
        (imply (after_visited ?o ?x) (visited ?x))
        (imply (after_picked ?o ?x) (picked ?x))
        (imply (after_opened ?o ?x) (opened ?x))
        (imply (after_placed ?o ?x) (put_down ?x)))))
    :effect (and (visited ?o)))

  (:action go_to_door
    :parameters (?a - agent ?d - door)
    :precondition (and (forall (?x - item) (and
        (imply (after_visited ?d ?x) (visited ?x))
        (imply (after_picked ?d ?x) (picked ?x))
        (imply (after_opened ?d ?x) (opened ?x))
        (imply (after_placed ?d ?x) (put_down ?x)))))
    :effect (and (visited ?d)))

  (:action pick_up_object
    :parameters (?a - agent ?o - thing)
    :precondition (and (hand_empty ?a) (forall (?x - item) (and
        (imply (after_visited ?o ?x) (visited ?x))
        (imply (after_picked ?o ?x) (picked ?x))
        (imply (after_opened ?o ?x) (opened ?x))
        (imply (after_placed ?o ?x) (put_down ?x)))))
    :effect (and (picked ?o) (holding ?a ?o) (not (hand_empty ?a))))

  (:action drop_held
    :parameters (?a - agent ?o - thing)
    :precondition (and (holding ?a ?o))
    :effect (and (hand_empty ?a) (not (holding ?a ?o))))

  (:action open_door
    :parameters (?a - agent ?d - door)
    :precondition (and (forall (?x - item) (and
        (imply (after_visited ?d ?x) (visited ?x))
        (imply (after_picked ?d ?x) (picked ?x))
        (imply (after_opened ?d ?x) (opened ?x))
        (imply (after_placed ?d ?x) (put_down ?x)))))
    :effect (and (opened ?d)))

  (:action open_box
    :parameters (?a - agent ?b - thing)
    :precondition (and (forall (?x - item) (and
        (imply (after_visited ?b ?x) (visited ?x))
        (imply (after_picked ?b ?x) (picked ?x))
        (imply (after_opened ?b ?x) (opened ?x))
        (imply (after_placed ?b ?x) (put_down ?x)))))
    :effect (and (opened ?b)))

  (:action put_next_to
    :parameters (?a - agent ?o - thing ?t - item)
    :precondition (and (holding ?a ?o) (to_be_placed ?o ?t) (forall (?x - item) (and
        (imply (after_visited ?o ?x) (visited ?x))
        (imply (after_picked ?o ?x) (picked ?x))
        (imply (after_opened ?o ?x) (opened ?x))
        (imply (after_placed ?o ?x) (put_down ?x)))))
    :effect (and (placed ?o ?t) (put_down ?o) (hand_empty ?a) (not (holding ?a ?o))))

  (:action put_near
    :parameters (?a - agent ?o - thing ?t - item)
    :precondition (and (holding ?a ?o) (to_be_placed_near ?o ?t) (forall (?x - item) (and
        (imply (after_visited ?o ?x) (visited ?x))
        (imply (after_picked ?o ?x) (picked ?x))
        (imply (after_opened ?o ?x) (opened ?x))
        (imply (after_placed ?o ?x) (put_down ?x)))))
    :effect (and (placed_near ?o ?t) (put_down ?o) (hand_empty ?a) (not (holding ?a ?o)))))
