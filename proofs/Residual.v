(** What residual connections make of the second moment: RES-01, RES-03, RES-12, RES-07, BOOK-51, LOSS-09. *)
From Coq Require Import Reals Lra Lia List.
From Proofs Require Import Law.
Open Scope R_scope.

(** RES-01. The variance of a state and that of its branch add up, whatever their means. *)
Theorem RES_01 : forall Ω (L : law Ω) x F σ τ,
  independent L x F ->
  variance L x (σ ^ 2) ->
  variance L F (τ ^ 2) ->
  variance L (fun ω => x ω + F ω) (σ ^ 2 + τ ^ 2).
Proof.
  intros Ω L x F σ τ I (m & M & V) (n & N & W). exists (m + n). split; [apply mean_plus; assumption|].
  assert (Z : mean L (fun ω => F ω - n) 0) by (refine (mean_as L _ _ _ _ (mean_minus L _ _ _ _ N (mean_const L n)) _ _); intros; ring).
  assert (P := I (fun u => u) (fun u => u - n) m 0 M Z).
  refine (mean_as L _ _ _ _ (mean_plus L _ _ _ _ (mean_plus L _ _ _ _ V W)
    (mean_plus L _ _ _ _ (mean_scale L 2 _ _ P) (mean_scale L (-2 * m) _ _ Z))) _ _); intros; ring.
Qed.

Lemma RES_01_met : forall σ τ, ltac:(hypotheses (RES_01 _ (pair (coin σ) (coin τ)) fst snd σ τ)).
Proof.
  intros. repeat split.
  - apply pair_independent, inhabits, 0.
  - exists 0. split; [apply (mean_first _ _ _ _ (fun x => x)) | apply (mean_first _ _ _ _ (fun x => (x - 0) ^ 2))]; cbn; ring.
  - exists 0. split; [apply (mean_second _ _ _ _ (fun x => x)) | apply (mean_second _ _ _ _ (fun x => (x - 0) ^ 2))]; cbn; ring.
Qed.

(** A branch that is the state; a state, and a branch, that is fixed and said to vary. *)
Lemma coin_varies : variance (coin 1) (fun ω => ω) (1 ^ 2).
Proof. exists 0. cbn. lra. Qed.
Lemma RES_01_needs_1 : ~ ltac:(without 1 RES_01).
Proof.
  intros F. destruct (F R (coin 1) _ _ 1 1 coin_varies coin_varies) as (m & M & V). cbn in M, V. replace m with 0 in V by lra. lra.
Qed.
Lemma RES_01_needs_2 : ~ ltac:(without 2 RES_01).
Proof.
  intros F. destruct (F R (coin 1) (fun _ => 0) (fun ω => ω) 1 1 ltac:(by_counting) coin_varies) as (m & M & V).
  cbn in M, V. replace m with 0 in V by lra. lra.
Qed.
Lemma RES_01_needs_3 : ~ ltac:(without 3 RES_01).
Proof.
  intros F. destruct (F R (coin 1) (fun _ => 0) (fun ω => ω) 0 2 ltac:(by_counting)) as (m & M & V).
  - exists 0. cbn. lra.
  - cbn in M, V. replace m with 0 in V by lra. lra.
Qed.

Section Stack.
  Context {Ω : Type} (L : law Ω) (x : Ω -> R) (F : nat -> Ω -> R).

  (** The state after [k] sublayers without a norm on the stream, as in Pre Norm. *)
  Fixpoint stream (k : nat) : Ω -> R := match k with O => x | S j => fun ω => stream j ω + F j ω end.

  (** no branch of the first [l] correlates with the state that it joins *)
  Definition branches_uncorrelated l := forall k, (k < l)%nat -> mean L (fun ω => stream k ω * F k ω) 0.

  (** each of the first [l] branches has the second moment [s] *)
  Definition branches_second_moment l s := forall k, (k < l)%nat -> mean L (fun ω => F k ω ^ 2) s.

  (** each of the first [l] branches has the second moment of the state that it joins *)
  Definition branches_keep_moment l := forall k, (k < l)%nat -> forall s, mean L (fun ω => stream k ω ^ 2) s -> mean L (fun ω => F k ω ^ 2) s.

  Lemma sublayer : forall k a b, mean L (fun ω => stream k ω * F k ω) 0 -> mean L (fun ω => stream k ω ^ 2) a ->
    mean L (fun ω => F k ω ^ 2) b -> mean L (fun ω => stream (S k) ω ^ 2) (a + b).
  Proof.
    intros k a b U A B.
    refine (mean_as L _ _ _ _ (mean_plus L _ _ _ _ (mean_plus L _ _ _ _ A B) (mean_scale L 2 _ _ U)) _ _); intros; cbn; ring.
  Qed.
End Stack.

(** RES-12, RES-14. In a Pre Norm stack, whose branches see inputs of mean square 1 and keep it, each sublayer adds 1. *)
Theorem RES_12 : forall Ω (L : law Ω) x F l,
  branches_uncorrelated L x F l ->
  branches_second_moment L F l 1 ->
  mean L (fun ω => x ω ^ 2) 1 ->
  mean L (fun ω => stream x F l ω ^ 2) (INR l + 1).
Proof.
  intros Ω L x F l U B X. induction l; [cbn; replace (0 + 1) with 1 by ring; exact X|].
  rewrite S_INR. apply sublayer; [apply U; lia | apply IHl; intros k Hk; auto | apply B; lia].
Qed.

(** A coin for each branch, and one for the start. *)
Lemma coins_stream : forall l, branches_uncorrelated (copies (S l) (coin 1)) (entry l) entry l.
Proof.
  intros l k Hk.
  enough (H : forall j, (j <= k)%nat -> mean (copies (S l) (coin 1)) (fun ω => stream (entry l) entry j ω * entry k ω) 0) by (apply H; lia).
  induction j; intros Hj; cbn [stream].
  - apply coins_uncorrelated; lia.
  - refine (mean_as _ _ _ _ _ (mean_plus _ _ _ _ _ (IHj ltac:(lia)) (coins_uncorrelated (S l) 1 j k _ _ _)) _ _); try lia; intros; ring.
Qed.

Lemma RES_12_met : forall l, ltac:(hypotheses (RES_12 _ (copies (S l) (coin 1)) (entry l) entry l)).
Proof.
  intros. assert (M := coins_second_moment (S l) 1). replace (1 ^ 2) with 1 in M by ring.
  repeat split; [apply coins_stream | intros k Hk; apply M; lia | apply M; lia].
Qed.

(** Branches that are the state; branches, and a start, of zeros. *)
Lemma RES_12_needs_1 : ~ ltac:(without 1 RES_12).
Proof. intros F. specialize (F R (coin 1) (fun ω => ω) (fun _ ω => ω) 1%nat ltac:(intros k _; cbn; lra)). counted_out F. Qed.
Lemma RES_12_needs_2 : ~ ltac:(without 2 RES_12).
Proof. intros F. specialize (F R (coin 1) (fun ω => ω) (fun _ _ => 0) 1%nat ltac:(intros k _; cbn; lra)). counted_out F. Qed.
Lemma RES_12_needs_3 : ~ ltac:(without 3 RES_12).
Proof. intros F. specialize (F R (coin 1) (fun _ => 0) (fun _ ω => ω) O ltac:(intros k; lia) ltac:(intros k; lia)). counted_out F. Qed.

(** RES-03. Where branches keep the second moment of the state, each sublayer doubles it. *)
Theorem RES_03_stack : forall Ω (L : law Ω) x F l,
  branches_uncorrelated L x F l ->
  branches_keep_moment L x F l ->
  mean L (fun ω => x ω ^ 2) 1 ->
  mean L (fun ω => stream x F l ω ^ 2) (2 ^ l).
Proof.
  intros Ω L x F l U B X. induction l; [exact X|].
  assert (H : mean L (fun ω => stream x F l ω ^ 2) (2 ^ l)) by (apply IHl; intros k Hk; auto).
  replace (2 ^ S l) with (2 ^ l + 2 ^ l) by (cbn; ring). apply sublayer; [apply U; lia | exact H | apply B; [lia | exact H]].
Qed.

(** A start of one coin, and a second coin that turns the state's sign or not. *)
Lemma RES_03_stack_met : ltac:(hypotheses (RES_03_stack _ (copies 2 (coin 1)) (entry 1) entry 1%nat)).
Proof.
  destruct (RES_12_met 1) as (U & B & X). repeat split; [exact U | | exact X].
  intros k Hk s S. replace k with O in * by lia. rewrite (mean_unique _ _ _ _ S X). exact (B O Hk).
Qed.
Lemma RES_03_stack_needs_1 : ~ ltac:(without 1 RES_03_stack).
Proof. intros F. specialize (F R (coin 1) (fun ω => ω) (fun _ ω => ω) 1%nat ltac:(intros k Hk s; replace k with O by lia; auto)). counted_out F. Qed.
Lemma RES_03_stack_needs_2 : ~ ltac:(without 2 RES_03_stack).
Proof. intros F. specialize (F R (coin 1) (fun ω => ω) (fun _ _ => 0) 1%nat ltac:(intros k _; cbn; lra)). counted_out F. Qed.
Lemma RES_03_stack_needs_3 : ~ ltac:(without 3 RES_03_stack).
Proof. intros F. specialize (F R (coin 1) (fun _ => 0) (fun _ ω => ω) O ltac:(intros k; lia) ltac:(intros k; lia)). counted_out F. Qed.

(** The state after [k] sublayers of Post Norm, whose norm divides by the root of [1 + τ ^ 2]. *)
Fixpoint post_norm {Ω} (τ : R) (x : Ω -> R) (F : nat -> Ω -> R) (k : nat) : Ω -> R :=
  match k with O => x | S j => fun ω => (post_norm τ x F j ω + F j ω) / sqrt (1 + τ ^ 2) end.

(** two stacks on one start: no branch correlates with the other stack's state or branch at its place *)
Definition foreign_branches {Ω} (L : law Ω) τ x F G l := forall k, (k < l)%nat ->
  mean L (fun ω => F k ω * post_norm τ x G k ω) 0 /\ mean L (fun ω => post_norm τ x F k ω * G k ω) 0 /\ mean L (fun ω => F k ω * G k ω) 0.

(** BOOK-51, RES-07 (τ = 1), LOSS-09 (DeepNorm). What is left of the first state on the identity path of a Post Norm stack: what two
    stacks with branches of their own have in common. *)
Theorem BOOK_51 : forall Ω (L : law Ω) τ x F G l,
  foreign_branches L τ x F G l ->
  mean L (fun ω => x ω ^ 2) 1 ->
  mean L (fun ω => post_norm τ x F l ω * post_norm τ x G l ω) (/ (1 + τ ^ 2) ^ l).
Proof.
  intros Ω L τ x F G l B X. induction l.
  - refine (mean_as L _ _ _ _ X _ _); intros; cbn; field.
  - destruct (B l ltac:(lia)) as (P & Q & N). assert (T := pow2_ge_0 τ).
    assert (H := IHl (fun k Hk => B k ltac:(lia))).
    refine (mean_as L _ _ _ _ (mean_scale L (/ (1 + τ ^ 2)) _ _ (mean_plus L _ _ _ _ (mean_plus L _ _ _ _ H P) (mean_plus L _ _ _ _ Q N))) _ _).
    + intros. cbn [post_norm]. set (q := sqrt (1 + τ ^ 2)). assert (0 < q) by (apply sqrt_lt_R0; lra).
      replace (1 + τ ^ 2) with (q * q) by (apply sqrt_sqrt; lra). field. lra.
    + cbn [pow]. field. split; [apply pow_nonzero|]; lra.
Qed.

Lemma BOOK_51_met : forall τ, ltac:(hypotheses (BOOK_51 _ (copies 3 (coin 1)) τ (entry 0) (fun _ => entry 1) (fun _ => entry 2) 1%nat)).
Proof.
  intros. split.
  - intros k K. assert (Z : k = O) by lia. rewrite Z. repeat split; apply (coins_uncorrelated 3 1); lia.
  - refine (mean_as _ _ _ _ _ (coins_second_moment 3 1 O ltac:(lia)) (fun _ => eq_refl) _). ring.
Qed.

(** Two stacks with one branch between them; a start of zeros. *)
Lemma BOOK_51_needs_1 : ~ ltac:(without 1 BOOK_51).
Proof.
  intros F. specialize (F R (coin 1) 0 (fun ω => ω) (fun _ ω => ω) (fun _ ω => ω) 1%nat ltac:(by_counting)).
  cbn in F. replace (1 + 0 * (0 * 1)) with 1 in F by ring. rewrite sqrt_1 in F. lra.
Qed.
Lemma BOOK_51_needs_2 : ~ ltac:(without 2 BOOK_51).
Proof. intros F. specialize (F R (coin 1) 0 (fun _ => 0) (fun _ _ => 0) (fun _ _ => 0) O ltac:(intros k; lia)). counted_out F. Qed.
