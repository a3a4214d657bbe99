(define (domain unlock)
  (:requirements :strips :typing)
  (:types agent goal item - object thing door - item)
  (:predicates
    (hand_empty ?a - agent)
    (holding ?a - agent ?o - thing)
    (fits ?k - thing ?d - door)
    (clear ?d - door)
    (unlocked ?d - door)
    (opened ?d - door)
    (informed ?a - agent)
    (way_open ?a - agent)
    (visited ?o - thing)
    (announced ?o - thing)
    (picked ?o - thing)
    (reached ?g - goal))

  (:action open_door
    :parameters (?a - agent ?d - door)
    :precondition (and (unlocked ?d))
    :effect (and (opened ?d) (informed ?a)))

  (:action clear_blocker
    :parameters (?a - agent ?d - door)
    :precondition (and (hand_empty ?a))
    :effect (and (clear ?d)))

  (:action fetch_key
    :parameters (?a - agent ?k - thing ?d - door)
    :precondition (and (hand_empty ?a) (fits ?k ?d) (informed ?a))
    :effect (and (holding ?a ?k) (not (hand_empty ?a))))

  (:action drop_held
    :parameters (?a - agent ?o - thing)
    :precondition (and (holding ?a ?o))
    :effect (and (hand_empty ?a) (not (holding ?a ?o))))

  (:action unlock_door
    :parameters (?a - agent ?d - door ?k - thing)
    :precondition (and (holding ?a ?k) (fits ?k ?d) (clear ?d))
    :effect (and (unlocked ?d) (opened ?d) (way_open ?a)))

  (:action go_to_object
    :parameters (?a - agent ?o - thing)
    :precondition (and (way_open ?a))
    :effect (and (visited ?o)))

  (:action announce
    :parameters (?a - agent ?o - thing)
    :precondition (and (visited ?o))
    :effect (and (announced ?o)))

  (:action pick_up_object
    :parameters (?a - agent ?o - thing)
    :precondition (and (hand_empty ?a) (way_open ?a))
    :effect (and (picked ?o) (holding ?a ?o) (not (hand_empty ?a))))

  (:action reach_goal
    :parameters (?a - agent ?g - goal)
    :precondition (and (way_open ?a))
    :effect (and (reached ?g))))
