(** The squared length of a random vector: LOSS-11, LOSS-12, LOSS-13, LOSS-17. (For normal entries, LOSS-14: [Normal.v].) *)
From Coq Require Import Reals Lra Lia.
From Proofs Require Import Law.
Open Scope R_scope.

(** LOSS-11. A vector of [d] entries of variance σ² has the mean squared length dσ². *)
Theorem LOSS_11 : forall Ω (L : law Ω) d w σ,
  entries_second_moment L d w (σ ^ 2) ->
  mean L (fun ω => Σ i < d, w i ω ^ 2) (INR d * σ ^ 2).
Proof. intros Ω L d w σ H. rewrite <- total_const. exact (mean_total L d _ _ H). Qed.

Lemma LOSS_11_met : forall (d : nat) (σ : R), ltac:(hypotheses (LOSS_11 _ (copies d (coin σ)) d entry σ)).
Proof. intros. apply coins_second_moment. Qed.

(** Two coins of size 1, said to be of size 2. *)
Lemma LOSS_11_needs_1 : ~ ltac:(without 1 LOSS_11).
Proof. intros F. specialize (F R (coin 1) 2%nat (fun _ ω => ω) 2). counted_out F. Qed.

(** LOSS-13. The mean square of the squared length: [d] pairs of an entry with itself, and d(d-1) pairs of two. *)
Theorem LOSS_13 : forall Ω (L : law Ω) d w σ κ,
  independent_entries L d w ->
  entries_second_moment L d w (σ ^ 2) ->
  entries_fourth_moment L d w (κ * σ ^ 4) ->
  mean L (fun ω => (Σ i < d, w i ω ^ 2) ^ 2) (INR d * κ * σ ^ 4 + INR d * (INR d - 1) * σ ^ 4).
Proof.
  intros Ω L d w σ κ I S4 F.
  refine (mean_as L _ _ _ _ (mean_square_of_sum L d (fun i ω => w i ω ^ 2) (κ * σ ^ 4) (σ ^ 2 * σ ^ 2) _ _) _ _).
  - intros i Hi. refine (mean_as L _ _ _ _ (F i Hi) _ _); intros; ring.
  - intros i j Hi Hj N. exact (I i j Hi Hj N (fun x => x ^ 2) (fun x => x ^ 2) _ _ (S4 i Hi) (S4 j Hj)).
  - reflexivity.
  - ring.
Qed.

(** Entries that are [s] or [7 s]: their second moment is (5 [s])², and κ is not 1. *)
Lemma LOSS_13_met : forall (d : nat) (s : R), ltac:(hypotheses (LOSS_13 _ (copies d (two_points s (7 * s))) d entry (5 * s) (1201 / 625))).
Proof.
  intros. repeat split; [apply copies_independent | |];
    intros i Hi; [apply (copies_entry _ (fun x => x ^ 2)) | apply (copies_entry _ (fun x => x ^ 4))]; try exact Hi; cbn; field.
Qed.

(** One number for both entries, 1 or 7. *)
Lemma LOSS_13_needs_1 : ~ ltac:(without 1 LOSS_13).
Proof. intros F. specialize (F R (two_points 1 7) 2%nat (fun _ ω => ω) 5 (1201 / 625)). counted_out F. Qed.

(** A coin of size 1, said to have another second moment, and another fourth. *)
Lemma LOSS_13_needs_2 : ~ ltac:(without 2 LOSS_13).
Proof. intros F. specialize (F R (coin 1) 2%nat (fun _ _ => 1) 2 (1 / 16)). counted_out F. Qed.
Lemma LOSS_13_needs_3 : ~ ltac:(without 3 LOSS_13).
Proof. intros F. specialize (F R (coin 1) 1%nat (fun _ ω => ω) 1 2). counted_out F. Qed.

(** LOSS-17. So the squared length has the variance (κ-1)dσ⁴, whatever the law of the entries. *)
Theorem LOSS_17 : forall Ω (L : law Ω) d w σ κ,
  independent_entries L d w ->
  entries_second_moment L d w (σ ^ 2) ->
  entries_fourth_moment L d w (κ * σ ^ 4) ->
  variance L (fun ω => Σ i < d, w i ω ^ 2) (INR d * (κ - 1) * σ ^ 4).
Proof.
  intros Ω L d w σ κ I S F.
  replace (INR d * (κ - 1) * σ ^ 4) with
    (INR d * κ * σ ^ 4 + INR d * (INR d - 1) * σ ^ 4 - (INR d * σ ^ 2) ^ 2) by ring.
  apply variance_from_moments; [apply LOSS_11 | apply LOSS_13]; assumption.
Qed.

Lemma LOSS_17_met : forall (d : nat) (s : R), ltac:(hypotheses (LOSS_17 _ (copies d (two_points s (7 * s))) d entry (5 * s) (1201 / 625))).
Proof. exact LOSS_13_met. Qed.

Lemma LOSS_17_needs_1 : ~ ltac:(without 1 LOSS_17).
Proof. intros F. specialize (F R (two_points 1 7) 2%nat (fun _ ω => ω) 5 (1201 / 625)). counted_out_at F 50. Qed.
Lemma LOSS_17_needs_2 : ~ ltac:(without 2 LOSS_17).
Proof. intros F. specialize (F R (coin 1) 2%nat (fun _ _ => 1) 2 (1 / 16)). counted_out_at F 2. Qed.
Lemma LOSS_17_needs_3 : ~ ltac:(without 3 LOSS_17).
Proof. intros F. specialize (F R (coin 1) 1%nat (fun _ ω => ω) 1 2). counted_out_at F 1. Qed.

(** LOSS-12. Measured by its mean, the squared length of a wide vector hardly varies: the variance of the ratio is (κ-1)/d. *)
Theorem LOSS_12_square : forall Ω (L : law Ω) d w σ κ,
  independent_entries L d w ->
  entries_second_moment L d w (σ ^ 2) ->
  entries_fourth_moment L d w (κ * σ ^ 4) ->
  σ <> 0 ->
  variance L (fun ω => (Σ i < d, w i ω ^ 2) / (INR d * σ ^ 2)) ((κ - 1) / INR d).
Proof.
  intros Ω L d w σ κ I M2 M4 Hσ. destruct d as [|c].
  { exists 0. cbn. unfold Rdiv. rewrite Rmult_0_l, Rinv_0, Rmult_0_r. split.
    - exact (mean_const L 0).
    - refine (mean_as L _ _ _ _ (mean_const L 0) _ eq_refl); intros; ring. }
  assert (D := lt_0_INR (S c) (Nat.lt_0_succ c)). set (d := S c) in *.
  destruct (LOSS_17 Ω L d w σ κ I M2 M4) as (m & M & V). exists (/ (INR d * σ ^ 2) * m). split.
  - refine (mean_as L _ _ _ _ (mean_scale L (/ (INR d * σ ^ 2)) _ _ M) _ eq_refl); intros; field; split; lra.
  - refine (mean_as L _ _ _ _ (mean_scale L ((/ (INR d * σ ^ 2)) ^ 2) _ _ V) _ _); intros; field; split; lra.
Qed.

Lemma LOSS_12_square_met : forall (d : nat), ltac:(hypotheses (LOSS_12_square _ (copies d (two_points 2 (7 * 2))) d entry (5 * 2) (1201 / 625))).
Proof. intros. destruct (LOSS_13_met d 2) as (I & S & Q). repeat split; trivial; lra. Qed.

Lemma LOSS_12_square_needs_1 : ~ ltac:(without 1 LOSS_12_square).
Proof. intros F. specialize (F R (two_points 1 7) 2%nat (fun _ ω => ω) 5 (1201 / 625)). counted_out_at F 1. Qed.
Lemma LOSS_12_square_needs_2 : ~ ltac:(without 2 LOSS_12_square).
Proof. intros F. specialize (F R (two_points 0 4) 1%nat (fun _ ω => ω) 1 128). counted_out_at F 8. Qed.
Lemma LOSS_12_square_needs_3 : ~ ltac:(without 3 LOSS_12_square).
Proof. intros F. specialize (F R (coin 1) 1%nat (fun _ ω => ω) 1 2). counted_out_at F 1. Qed.
(** Entries that are 0. *)
Lemma LOSS_12_square_needs_4 : ~ ltac:(without 4 LOSS_12_square).
Proof.
  intros F. destruct (F R (two_points 0 0) 1%nat (fun _ ω => ω) 0 2) as (m & M & V); [by_counting .. |].
  cbn in M, V. unfold Rdiv in *. rewrite !Rmult_0_l, ?Rinv_0, ?Rmult_0_r in *. replace m with 0 in V by lra. lra.
Qed.
