(** What factorised tables hold and cost: BOOK-01, BOOK-02, BOOK-08. *)
From Coq Require Import Reals Lra Lia Psatz.
From Proofs Require Import Law.
Open Scope R_scope.

(** The rank on the left of core [i] of a train of [k] cores, with the inner ranks [r]. *)
Definition rank (k : nat) (r : R) (i : nat) : R := if Nat.eq_dec i 0 then 1 else if Nat.eq_dec i k then 1 else r.

(** BOOK-01. A train of [k] cores, core [i] of the size (rank i, m, q, rank (i + 1)), holds so many numbers. *)
Theorem BOOK_01_train : forall k m q r,
  (1 < k)%nat ->
  (Σ i < k, rank k r i * m * q * rank k r (S i)) = 2 * m * q * r + (INR k - 2) * m * q * r ^ 2.
Proof.
  intros k m q r K.
  assert (H : forall j, (j < k - 1)%nat -> (Σ i < S j, rank k r i * m * q * rank k r (S i)) = m * q * r + INR j * m * q * r ^ 2).
  { induction j; intros J; [|rewrite S_INR; cbn [total] in *; rewrite IHj by lia];
      cbn [total INR]; unfold rank; repeat (destruct Nat.eq_dec; try lia); ring. }
  replace k with (S (S (k - 2))) at 1 by lia. cbn [total]. specialize (H (k - 2)%nat ltac:(lia)). cbn [total] in H. rewrite H, minus_INR by lia.
  unfold rank. repeat (destruct Nat.eq_dec; try lia). cbn. ring.
Qed.

Lemma BOOK_01_train_met : ltac:(hypotheses (BOOK_01_train 4 2 3 5)).
Proof. lia. Qed.
(** One core, which has no inner rank. *)
Lemma BOOK_01_train_needs_1 : ~ ltac:(without 1 BOOK_01_train).
Proof. intros F. specialize (F 1%nat 1 1 2). cbn in F. lra. Qed.

(** BOOK-02 (train). Such a train holds less than the table that it stands for, of [mq] to the power [k] entries, if its rank is smaller than this. *)
Theorem BOOK_02_train : forall k s r,
  (2 < k)%nat ->
  0 < s ->
  2 * s * r + (INR k - 2) * s * r ^ 2 < s ^ k ->
  r < (sqrt (1 + (INR k - 2) * s ^ (k - 1)) - 1) / (INR k - 2).
Proof.
  intros k s r K S H. assert (Z : 0 < INR k - 2) by (apply lt_INR in K; cbn in K; lra). set (z := INR k - 2) in *.
  replace (s ^ k) with (s * s ^ (k - 1)) in H by (replace k with (Datatypes.S (k - 1)) at 2 by lia; reflexivity).
  set (t := s ^ (k - 1)) in *. assert (G : 2 * r + z * r ^ 2 < t) by nra.
  apply (Rmult_lt_reg_r z); [exact Z|]. replace ((sqrt (1 + z * t) - 1) / z * z) with (sqrt (1 + z * t) - 1) by (field; lra).
  enough (1 + r * z < sqrt (1 + z * t)) by lra. assert (T : 0 < t) by (apply pow_lt, S).
  assert (V := sqrt_lt_R0 (1 + z * t) ltac:(nra)). destruct (Rlt_le_dec (1 + r * z) 0) as [W|W]; [lra|].
  rewrite <- (sqrt_pow2 (1 + r * z)) by exact W. apply sqrt_lt_1; nra.
Qed.

Lemma BOOK_02_train_met : ltac:(hypotheses (BOOK_02_train 4 2 (15615 / 10000))).
Proof. cbn. repeat split; lra || lia. Qed.
(** Ranks just above the bound, at two cores, at a size below 0, and where nothing is said of the sizes. *)
Lemma BOOK_02_train_needs_1 : ~ ltac:(without 1 BOOK_02_train).
Proof.
  intros F. specialize (F 2%nat 2 (1 / 2) ltac:(lra) ltac:(cbn; lra)). cbn in F.
  replace (1 + 1 - 2) with 0 in F by ring. unfold Rdiv in F. rewrite Rinv_0 in F. lra.
Qed.
Lemma BOOK_02_train_needs_2 : ~ ltac:(without 2 BOOK_02_train).
Proof.
  intros F. specialize (F 3%nat (-1) 5 ltac:(lia) ltac:(cbn; lra)). cbn in F. replace (1 + 1 + 1 - 2) with 1 in F by ring.
  assert (sqrt (1 + 1 * (-1 * (-1 * 1))) <= 2) by (rewrite <- (sqrt_square 2) by lra; apply sqrt_le_1; lra). lra.
Qed.
Lemma BOOK_02_train_needs_3 : ~ ltac:(without 3 BOOK_02_train).
Proof.
  intros F. specialize (F 3%nat 1 5 ltac:(lia) ltac:(lra)). cbn in F. replace (1 + 1 + 1 - 2) with 1 in F by ring.
  assert (sqrt (1 + 1 * (1 * (1 * 1))) <= 2) by (rewrite <- (sqrt_square 2) by lra; apply sqrt_le_1; lra). lra.
Qed.

(** BOOK-08 (product). Multiplying [k] vectors of length [q] out, left to right, for each of [r] terms. *)
Theorem BOOK_08_product : forall k q r,
  q <> 1 ->
  (Σ i < k - 1, r * q ^ (i + 2)) = r * q ^ 2 * (q ^ (k - 1) - 1) / (q - 1).
Proof.
  intros k q r Q. induction (k - 1)%nat as [|c IH]; cbn [total]; [cbn; field; lra|].
  rewrite IH, pow_add. cbn. field. lra.
Qed.
Lemma BOOK_08_product_met : ltac:(hypotheses (BOOK_08_product 4 3 5)).
Proof. lra. Qed.
(** Vectors of length 1. *)
Lemma BOOK_08_product_needs_1 : ~ ltac:(without 1 BOOK_08_product).
Proof. intros F. specialize (F 2%nat 1 1). cbn in F. unfold Rdiv in F. replace (1 - 1) with 0 in F by ring. rewrite Rinv_0 in F. lra. Qed.
