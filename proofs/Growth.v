(** Growing a model by repeating its coordinates: GROW-04, GROW-29, GROW-35, GROW-37, GROW-40. *)
From Coq Require Import Reals Lra Lia.
From Proofs Require Import Law Layers.
Open Scope R_scope.

(** Each coordinate [k] times in place: x₁, x₁, x₂, x₂, ... *)
Definition repeat (k : nat) (x : nat -> R) (i : nat) : R := x (i / k)%nat.

Lemma total_repeat : forall k d f, (Σ i < k * d, f (i / k)%nat) = INR k * Σ i < d, f i.
Proof.
  intros k d f. destruct (Nat.eq_dec k 0) as [->|K]; [cbn; ring|]. induction d; [rewrite Nat.mul_0_r; cbn; ring|].
  replace (k * S d)%nat with (k * d + k)%nat by lia.
  assert (H : forall j, (j <= k)%nat -> total (k * d + j) (fun i => f (i / k)%nat) = total (k * d) (fun i => f (i / k)%nat) + INR j * f d).
  { induction j; intros J; [rewrite Nat.add_0_r; cbn; ring|]. rewrite Nat.add_succ_r, S_INR. cbn [total]. rewrite IHj by lia.
    rewrite (Nat.mul_comm k d), Nat.div_add_l, (Nat.div_small j k) by lia. rewrite Nat.add_0_r. ring. }
  rewrite H, IHd by lia. cbn [total]. ring.
Qed.

Definition average (d : nat) (x : nat -> R) : R := (Σ i < d, x i) / INR d.
Definition spread (d : nat) (x : nat -> R) : R := (Σ i < d, (x i - average d x) ^ 2) / INR d.

(** Layer Norm and RMS Norm with their small constant ε, gain 1 and shift 0. *)
Definition layer_norm (ε : R) (d : nat) (x : nat -> R) (i : nat) : R := (x i - average d x) / sqrt (spread d x + ε).
Definition rms_norm (ε : R) (d : nat) (x : nat -> R) (i : nat) : R := x i / sqrt ((Σ j < d, x j ^ 2) / INR d + ε).

Lemma average_grown : forall t k d x, (0 < k)%nat -> average (k * d) (fun i => t * repeat k x i) = t * average d x.
Proof.
  intros t k d x K. unfold average, repeat. rewrite total_scale, total_repeat, mult_INR. apply lt_0_INR in K.
  unfold Rdiv. rewrite Rinv_mult. generalize (/ INR d). intros. field. lra.
Qed.

Lemma spread_grown : forall t k d x, (0 < k)%nat -> spread (k * d) (fun i => t * repeat k x i) = t ^ 2 * spread d x.
Proof.
  intros t k d x K. unfold spread. rewrite average_grown by exact K. unfold repeat.
  rewrite (total_same _ _ (fun i => t ^ 2 * (x (i / k)%nat - average d x) ^ 2)) by (intros; ring).
  rewrite total_scale, (total_repeat k d (fun i => (x i - average d x) ^ 2)), mult_INR. apply lt_0_INR in K.
  unfold Rdiv. rewrite Rinv_mult. generalize (/ INR d). intros. field. lra.
Qed.

Lemma scaled_root : forall t v, 0 < t -> sqrt (t ^ 2 * v) = t * sqrt v.
Proof.
  intros t v T. destruct (Rle_dec 0 v) as [V|V].
  - rewrite sqrt_mult, sqrt_pow2 by nra. reflexivity.
  - rewrite !sqrt_neg_0 by nra. ring.
Qed.

(** GROW-37 (what is needed). Layer Norm takes the scale of what is repeated away, if its ε is scaled by the square. *)
Theorem GROW_37_needed : forall t ε k d x i,
  0 < t ->
  (0 < k)%nat ->
  layer_norm (t ^ 2 * ε) (k * d) (fun i => t * repeat k x i) i - repeat k (layer_norm ε d x) i = 0.
Proof.
  intros t ε k d x i T K. unfold layer_norm. rewrite average_grown, spread_grown by exact K.
  rewrite <- Rmult_plus_distr_l, scaled_root by exact T. unfold repeat, Rdiv.
  rewrite Rinv_mult. generalize (/ sqrt (spread d x + ε)). intros. field. lra.
Qed.

Lemma GROW_37_needed_met : ltac:(hypotheses (GROW_37_needed 3 (1 / 10) 2 3 INR 4)).
Proof. split; lra || lia. Qed.
(** A factor of -1; no copies. *)
Definition ends (i : nat) : R := match i with O => 1 | _ => -1 end.
Lemma norm_of_ends : layer_norm 0 2 ends 0 = 1.
Proof.
  unfold layer_norm, spread, average. cbn. replace (_ + 0) with 1 by field. rewrite sqrt_1. field.
Qed.
Lemma GROW_37_needed_needs_1 : ~ ltac:(without 1 GROW_37_needed).
Proof.
  intros F. specialize (F (-1) 0 1%nat 2%nat ends 0%nat ltac:(lia)). unfold repeat in F. cbn [Nat.div Nat.divmod fst] in F. rewrite norm_of_ends in F.
  unfold layer_norm, spread, average in F. cbn in F. replace (_ + -1 * (-1 * 1) * 0) with 1 in F by field. rewrite sqrt_1 in F. lra.
Qed.
Lemma GROW_37_needed_needs_2 : ~ ltac:(without 2 GROW_37_needed).
Proof.
  intros F. specialize (F 1 0 0%nat 2%nat ends 0%nat ltac:(lra)). unfold repeat in F. cbn [Nat.div] in F. rewrite norm_of_ends in F.
  unfold layer_norm, spread, average in F. cbn in F. unfold Rdiv in F. rewrite Rinv_0, !Rmult_0_r in F.
  match type of F with context [sqrt ?e] => replace e with 0 in F by ring end. rewrite sqrt_0, Rinv_0 in F. lra.
Qed.

(** RMS Norm does the same. *)
Theorem GROW_37_rms : forall t ε k d x i,
  0 < t ->
  (0 < k)%nat ->
  rms_norm (t ^ 2 * ε) (k * d) (fun i => t * repeat k x i) i - repeat k (rms_norm ε d x) i = 0.
Proof.
  intros t ε k d x i T K. unfold rms_norm, repeat.
  rewrite (total_same _ _ (fun i => t ^ 2 * x (i / k)%nat ^ 2)), total_scale, (total_repeat k d (fun i => x i ^ 2)), mult_INR by (intros; ring).
  apply lt_0_INR in K. replace (t ^ 2 * (INR k * Σ i < d, x i ^ 2) / (INR k * INR d) + t ^ 2 * ε) with (t ^ 2 * ((Σ i < d, x i ^ 2) / INR d + ε))
    by (unfold Rdiv; rewrite Rinv_mult; generalize (/ INR d); intros; field; lra).
  rewrite scaled_root by exact T. unfold Rdiv. rewrite Rinv_mult. generalize (/ sqrt ((Σ j < d, x j ^ 2) * / INR d + ε)). intros. field. lra.
Qed.

(** GROW-35 (product). State and embedding, both repeated and divided by √k, have the product of before: no logit of a head that
    is tied moves. *)
Theorem GROW_35_product : forall k d x w,
  (0 < k)%nat ->
  (Σ i < k * d, repeat k x i / sqrt (INR k) * (repeat k w i / sqrt (INR k))) - (Σ i < d, x i * w i) = 0.
Proof.
  intros k d x w K. apply lt_0_INR in K. assert (S := sqrt_lt_R0 _ K). unfold repeat.
  rewrite (total_same _ _ (fun i => / INR k * (x (i / k)%nat * w (i / k)%nat))).
  - rewrite total_scale, (total_repeat k d (fun i => x i * w i)). field. lra.
  - intros. rewrite <- (sqrt_sqrt (INR k)) at 3 by lra. field. lra.
Qed.

(** The share of attention that key [j] of [n] gets from a query, whose products are divided by the root of the head's size. *)
Definition attention (n d : nat) (q : nat -> R) (keys : nat -> nat -> R) (j : nat) : R :=
  let a j := (Σ c < d, q c * keys j c) / sqrt (INR d) in exp (a j) / Σ l < n, exp (a l).

(** GROW-29 (root). A head that is enlarged keeps its attention if queries and keys, repeated and divided by √k, are each multiplied
    by the fourth root of k. *)
Theorem GROW_29_root : forall k n d q keys j,
  (0 < k)%nat ->
  let grown x i := Rpower (INR k) (1 / 4) * (repeat k x i / sqrt (INR k)) in
  attention n (k * d) (grown q) (fun l => grown (keys l)) j - attention n d q keys j = 0.
Proof.
  intros k n d q keys j K grown. apply lt_0_INR in K. assert (S := sqrt_lt_R0 _ K).
  enough (E : forall l, (Σ c < k * d, grown q c * grown (keys l) c) / sqrt (INR (k * d)) = (Σ c < d, q c * keys l c) / sqrt (INR d)).
  { unfold attention. rewrite E, (total_same n (fun l => exp (_ / _)) (fun l => exp ((Σ c < d, q c * keys l c) / sqrt (INR d)))).
    - ring.
    - intros l _. rewrite E. reflexivity. }
  intros l. unfold grown, repeat. assert (P : Rpower (INR k) (1 / 4) * Rpower (INR k) (1 / 4) = sqrt (INR k)).
  { rewrite <- Rpower_plus. replace (1 / 4 + 1 / 4) with (/ 2) by field. apply Rpower_sqrt, K. }
  rewrite (total_same _ _ (fun i => sqrt (INR k) / INR k * (q (i / k)%nat * keys l (i / k)%nat))).
  - rewrite total_scale, (total_repeat k d (fun i => q i * keys l i)), mult_INR, sqrt_mult by (apply pos_INR || lra).
    unfold Rdiv. rewrite Rinv_mult. generalize (/ sqrt (INR d)). intros. field. lra.
  - intros i _. transitivity (Rpower (INR k) (1 / 4) * Rpower (INR k) (1 / 4) / (sqrt (INR k) * sqrt (INR k)) * (q (i / k)%nat * keys l (i / k)%nat));
      [field; lra | rewrite P, sqrt_sqrt by lra; reflexivity].
Qed.

Lemma GROW_37_rms_met : ltac:(hypotheses (GROW_37_rms 3 (1 / 10) 2 3 INR 4)).
Proof. split; lra || lia. Qed.
Lemma GROW_37_rms_needs_1 : ~ ltac:(without 1 GROW_37_rms).
Proof.
  intros F. specialize (F (-1) 0 1%nat 1%nat ends 0%nat ltac:(lia)). unfold rms_norm, repeat in F. cbn in F.
  repeat match type of F with context [sqrt ?e] => lazymatch e with 1 => fail | _ => replace e with 1 in F by field end end. rewrite sqrt_1 in F. lra.
Qed.
Lemma GROW_37_rms_needs_2 : ~ ltac:(without 2 GROW_37_rms).
Proof.
  intros F. specialize (F 1 1 0%nat 1%nat (fun _ => 1) 0%nat ltac:(lra)). unfold rms_norm, repeat in F. cbn in F.
  match type of F with context [sqrt ?e] => replace e with 1 in F by (unfold Rdiv; rewrite Rmult_0_l; ring) end. rewrite sqrt_1 in F.
  match type of F with context [sqrt ?e] => replace e with 2 in F by field end.
  assert (1 < sqrt 2) by (rewrite <- sqrt_1 at 1; apply sqrt_lt_1; lra). assert (/ sqrt 2 < / 1) by (apply Rinv_lt_contravar; lra). lra.
Qed.
Lemma GROW_35_product_met : ltac:(hypotheses (GROW_35_product 2 3 INR (fun i => INR i + 2))).
Proof. lia. Qed.
Lemma GROW_35_product_needs_1 : ~ ltac:(without 1 GROW_35_product).
Proof. intros F. specialize (F 0%nat 1%nat (fun _ => 1) (fun _ => 1)). cbn in F. lra. Qed.
Lemma GROW_29_root_met : ltac:(hypotheses (GROW_29_root 2 3 4 INR (fun l _ => INR l / 10) 1%nat)).
Proof. lia. Qed.
(** No copies: every key would get the same. *)
Lemma GROW_29_root_needs_1 : ~ ltac:(without 1 GROW_29_root).
Proof.
  intros F. specialize (F 0%nat 2%nat 1%nat (fun _ => 1) (fun l _ => match l with O => 0 | _ => 1 end) 0%nat). unfold attention in F. cbn in F.
  rewrite sqrt_1 in F. unfold Rdiv in F. rewrite !Rmult_0_l in F.
  replace ((0 + 1 * 0) * / 1) with 0 in F by field. replace ((0 + 1 * 1) * / 1) with 1 in F by field. rewrite exp_0 in F.
  assert (E := exp_ineq1 1 ltac:(lra)). assert (/ (0 + 1 + exp 1) < / (0 + 1 + 1)) by (apply Rinv_lt_contravar; nra). lra.
Qed.
