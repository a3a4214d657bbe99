(define (domain match_cue)
  (:requirements :strips :typing)
  (:types agent cue)
  (:predicates
    (noted ?c - cue)
    (matched ?c - cue))

  (:action observe_cue
    :parameters (?a - agent ?c - cue)
    :effect (and (noted ?c)))

  (:action go_to_match
    :parameters (?a - agent ?c - cue)
    :precondition (and (noted ?c))
    :effect (and (matched ?c))))
