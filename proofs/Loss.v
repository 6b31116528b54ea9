(** The first loss: LOSS-23, LOSS-24, BOOK-82. *)
From Coq Require Import Reals Lra Lia.
From Proofs Require Import Law.
Open Scope R_scope.

(** The cross-entropy of [n] logits [a] where the label is [j]. *)
Definition cross_entropy (n : nat) (a : nat -> R) (j : nat) : R := ln (Σ i < n, exp (a i)) - a j.

Lemma ln_0 : ln 0 = 0.
Proof. unfold ln. destruct (Rlt_dec 0 0) as [B|]; [contradiction (Rlt_irrefl 0 B) | reflexivity]. Qed.

Lemma total_positive : forall n f, (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < total n f.
Proof.
  induction n; intros f N P; [lia|]. cbn. assert (0 < f n) by (apply P; lia).
  destruct n; [cbn; lra|]. assert (0 < total (S n) f) by (apply IHn; [lia | auto]). lra.
Qed.

Lemma total_at_most : forall n f g, (forall i, (i < n)%nat -> f i <= g i) -> total n f <= total n g.
Proof. induction n; intros f g H; cbn; [lra|]. assert (f n <= g n) by auto. assert (total n f <= total n g) by auto. lra. Qed.

(** LOSS-23. Equal logits cost log n, whatever the label. *)
Theorem LOSS_23 : forall n c j, (j < n)%nat -> cross_entropy n (fun _ => c) j = ln (INR n).
Proof.
  intros n c j J. assert (N := lt_0_INR n ltac:(lia)). unfold cross_entropy.
  rewrite total_const, ln_mult, ln_exp; [ring | exact N | apply exp_pos].
Qed.

Lemma LOSS_23_met : ltac:(hypotheses (LOSS_23 3%nat 2 1%nat)).
Proof. lia. Qed.
(** No logits at all. *)
Lemma LOSS_23_needs_1 : ~ ltac:(without 1 LOSS_23).
Proof. intros F. specialize (F O 1 O). unfold cross_entropy in F. cbn in F. lra. Qed.

(** The mean loss on a label that is uniform, and independent of the logits, is log n and the mean of [exp x - 1 - x] over the
    tokens, where [x] is the logarithm of n times the probability. *)
Lemma loss_above_uniform : forall n a, (0 < n)%nat ->
  (Σ j < n, cross_entropy n a j) / INR n =
  ln (INR n) + (Σ j < n, let x := ln (INR n) - cross_entropy n a j in exp x - 1 - x) / INR n.
Proof.
  intros n a P. assert (N := lt_0_INR n P). set (S := Σ i < n, exp (a i)).
  assert (Z : 0 < S) by (apply total_positive; [exact P | intros; apply exp_pos]).
  rewrite (total_same n (fun j => let x := ln (INR n) - cross_entropy n a j in exp x - 1 - x) (fun j => INR n / S * exp (a j) + (-1 * (1 + ln (INR n)) + cross_entropy n a j))).
  - rewrite !total_plus, total_scale, total_const. fold S. set (A := Σ j < n, cross_entropy n a j). set (l := ln (INR n)). field. split; lra.
  - intros j _. unfold cross_entropy. fold S. cbv zeta. replace (ln (INR n) - (ln S - a j)) with (ln (INR n) + (- ln S + a j)) at 1 by ring.
    rewrite !exp_plus, exp_Ropp, !exp_ln by assumption. field. lra.
Qed.

(** LOSS-24. Logits that know nothing of the label have at least the mean loss log n. *)
Theorem LOSS_24_least : forall n a, ln (INR n) <= (Σ j < n, cross_entropy n a j) / INR n.
Proof.
  intros n a. destruct (Nat.eq_dec n 0) as [->|Z]; [cbn; rewrite ln_0; unfold Rdiv; lra|].
  assert (P : (0 < n)%nat) by lia. assert (N := lt_0_INR n P). rewrite loss_above_uniform by exact P.
  enough (0 <= Σ j < n, let x := ln (INR n) - cross_entropy n a j in exp x - 1 - x) by (apply Rmult_le_compat_r with (r := / INR n) in H;
    [unfold Rdiv; lra | apply Rlt_le, Rinv_0_lt_compat, N]).
  apply Rle_trans with (Σ j < n, 0); [rewrite total_const; lra|]. apply total_at_most. intros j _. cbv zeta.
  assert (E := exp_ineq1_le (ln (INR n) - cross_entropy n a j)). lra.
Qed.

(** LOSS-24. Only equal logits have it. *)
Theorem LOSS_24_only : forall n a,
  (Σ j < n, cross_entropy n a j) / INR n = ln (INR n) ->
  forall i j, (i < n)%nat -> (j < n)%nat -> a i = a j.
Proof.
  intros n a E. assert (Q : forall j, (j < n)%nat -> cross_entropy n a j = ln (INR n));
    [|intros i j I J; assert (A := Q i I); assert (B := Q j J); unfold cross_entropy in A, B; lra].
  intros j J. assert (P : (0 < n)%nat) by lia. assert (N := lt_0_INR n P). rewrite loss_above_uniform in E by exact P.
  set (g := fun j => let x := ln (INR n) - cross_entropy n a j in exp x - 1 - x) in E.
  assert (G : forall j, 0 <= g j) by (intros i; unfold g; cbv zeta; assert (T := exp_ineq1_le (ln (INR n) - cross_entropy n a i)); lra).
  assert (Z : total n g = 0).
  { apply (Rmult_eq_reg_r (/ INR n)); [unfold Rdiv in E; lra | apply Rinv_neq_0_compat; lra]. }
  assert (g j = 0).
  { assert (H := G j). enough (g j <= total n g) by lra. clear -J G. clearbody g. induction n; [lia|]. cbn. assert (T := G n).
    destruct (Nat.eq_dec j n) as [->|]; [|assert (g j <= total n g) by (apply IHn; lia); lra].
    assert (Σ i < n, 0 <= total n g) by (apply total_at_most; auto). rewrite total_const in H. lra. }
  unfold g in H; cbv zeta in H. destruct (Req_dec (ln (INR n) - cross_entropy n a j) 0) as [|D]; [lra|].
  apply exp_ineq1 in D. lra.
Qed.

(** Two equal logits; what stands behind them does not count. *)
Lemma LOSS_24_only_met : ltac:(hypotheses (LOSS_24_only 2 (fun i => if Nat.eq_dec i 3 then 5 else 1))).
Proof.
  assert (E : forall j, (j < 2)%nat -> cross_entropy 2 (fun i => if Nat.eq_dec i 3 then 5 else 1) j = ln (INR 2)).
  { intros j J. rewrite <- (LOSS_23 2 1 j J). unfold cross_entropy. destruct j as [|[|j]]; [reflexivity .. | lia]. }
  cbn [total]. rewrite !E by lia. cbn. field.
Qed.
Lemma LOSS_24_only_needs_1 : ~ ltac:(without 1 LOSS_24_only).
Proof. intros F. specialize (F 2%nat INR 0%nat 1%nat ltac:(lia) ltac:(lia)). cbn in F. lra. Qed.

(** each of the [n] logits [a] has the moment [exp (θ a)] of a normal number of standard deviation [s] *)
Definition normal_moment_at {Ω} (L : law Ω) n (a : nat -> Ω -> R) θ s :=
  forall k, (k < n)%nat -> mean L (fun ω => exp (θ * a k ω)) (exp (θ ^ 2 * s ^ 2 / 2)).

(** A share is at most its power. *)
Lemma shares : forall n a θ, (0 < n)%nat -> 0 < θ -> θ <= 1 -> ln (Σ k < n, exp (a k)) <= ln (Σ k < n, exp (θ * a k)) / θ.
Proof.
  intros n a θ P T U. set (S := Σ k < n, exp (a k)).
  assert (Z : 0 < S) by (apply total_positive; [exact P | intros; apply exp_pos]).
  assert (B : forall k, (k < n)%nat -> a k <= ln S).
  { intros k K. rewrite <- (ln_exp (a k)). enough (exp (a k) <= S) by (destruct (Req_dec (exp (a k)) S) as [->|];
      [lra | apply Rlt_le, ln_increasing; [apply exp_pos | lra]]). unfold S. clear -K. induction n; [lia|]. cbn.
    assert (E := exp_pos (a n)). assert (Q : Σ i < n, 0 <= Σ i < n, exp (a i)) by (apply total_at_most; intros; apply Rlt_le, exp_pos).
    rewrite total_const in Q. destruct (Nat.eq_dec k n) as [->|]; [lra|]. assert (exp (a k) <= Σ i < n, exp (a i)) by (apply IHn; lia). lra. }
  assert (C : exp (θ * ln S) <= Σ k < n, exp (θ * a k)).
  { replace (exp (θ * ln S)) with (Σ k < n, exp (θ * ln S) / S * exp (a k)) by (rewrite total_scale; fold S; field; lra).
    apply total_at_most. intros k K. rewrite <- (exp_ln S Z) at 2. unfold Rdiv. rewrite <- exp_Ropp, <- !exp_plus.
    specialize (B k K). destruct (Req_dec (θ * ln S + - ln S + a k) (θ * a k)) as [->|]; [lra | apply Rlt_le, exp_increasing; nra]. }
  apply (Rmult_le_reg_l θ); [exact T|]. replace (θ * (ln (Σ k < n, exp (θ * a k)) / θ)) with (ln (Σ k < n, exp (θ * a k))) by (field; lra).
  rewrite <- (ln_exp (θ * ln S)). destruct (Req_dec (exp (θ * ln S)) (Σ k < n, exp (θ * a k))) as [->|]; [lra|].
  apply Rlt_le, ln_increasing; [apply exp_pos | lra].
Qed.

(** BOOK-82. The ceiling of the mean loss: for every θ up to 1, the mean of the logarithm of the sum is at most this. *)
Theorem BOOK_82_bound : forall Ω (L : law Ω) n a θ s c,
  normal_moment_at L n a θ s ->
  0 < θ ->
  θ <= 1 ->
  mean L (fun ω => ln (Σ k < n, exp (a k ω))) c ->
  c <= ln (INR n) / θ + θ * s ^ 2 / 2.
Proof.
  intros Ω L n a θ s c M T U C. destruct (Nat.eq_dec n 0) as [->|Z].
  { assert (E := ln_0). assert (Z := mean_unique L _ _ _ C (mean_const L (ln 0))).
    assert (Q := pow2_ge_0 s). apply Rle_trans with 0; [lra|]. change (INR 0) with 0. unfold Rdiv. rewrite E, Rmult_0_l. nra. }
  assert (P : (0 < n)%nat) by lia. assert (N := lt_0_INR n P). clear Z. set (e := INR n * exp (θ ^ 2 * s ^ 2 / 2)).
  assert (E : 0 < e) by (apply Rmult_lt_0_compat; [exact N | apply exp_pos]).
  assert (X := mean_total L n _ _ M). rewrite total_const in X. fold e in X.
  replace (ln (INR n) / θ + θ * s ^ 2 / 2) with (/ θ * (ln e - 1 + / e * e))
    by (unfold e at 1; rewrite ln_mult, ln_exp; [field; split; lra | exact N | apply exp_pos]).
  refine (mean_at_most L _ _ _ _ _ C (mean_scale L (/ θ) _ _ (mean_plus L _ _ _ _ (mean_const L (ln e - 1)) (mean_scale L (/ e) _ _ X)))).
  intros ω. set (S := Σ k < n, exp (θ * a k ω)). assert (Z : 0 < S) by (apply total_positive; [exact P | intros; apply exp_pos]).
  apply Rle_trans with (ln S / θ); [apply shares; assumption|]. unfold Rdiv. rewrite Rmult_comm. apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, T|].
  assert (Y := exp_ineq1_le (ln S - ln e)). unfold Rminus in Y. rewrite exp_plus, exp_Ropp, !exp_ln in Y by assumption. lra.
Qed.

(** Two equal logits of 0, at θ = 2 and θ = -1; one logit of 1, said not to vary; a mean that is none. *)
Lemma zeros : forall n θ, normal_moment_at (coin 1) n (fun _ _ => 0) θ 0.
Proof. intros n θ k _. refine (mean_as _ _ _ _ _ (mean_const _ 1) _ _); intros; [rewrite Rmult_0_r | replace (θ ^ 2 * 0 ^ 2 / 2) with 0 by field]; apply exp_0. Qed.
(** Logits that are all the mean over θ of a normal number's moment: at θ = 1 they reach the bound. *)
Lemma BOOK_82_bound_met : forall n θ s, 0 < θ -> θ <= 1 ->
  ltac:(hypotheses (BOOK_82_bound _ (coin 1) n (fun _ _ => θ * s ^ 2 / 2) θ s (ln (Σ k < n, exp (θ * s ^ 2 / 2))))).
Proof.
  intros. repeat split; [|assumption ..| apply mean_const].
  intros k _. refine (mean_as _ _ _ _ _ (mean_const _ (exp (θ ^ 2 * s ^ 2 / 2))) _ eq_refl). intros. f_equal. field.
Qed.
Lemma ln_two : 0 < ln (INR 2).
Proof. rewrite <- ln_1. apply ln_increasing; cbn; lra. Qed.
Lemma two_zeros : mean (coin 1) (fun _ : R => ln (Σ k < 2, exp 0)) (ln (INR 2)).
Proof. rewrite total_const, exp_0, Rmult_1_r. apply mean_const. Qed.
Lemma BOOK_82_bound_needs_1 : ~ ltac:(without 1 BOOK_82_bound).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 1) 1 0 1 ltac:(lra) ltac:(lra)). cbn [INR] in F. rewrite ln_1 in F.
  enough (1 <= 0 / 1 + 1 * 0 ^ 2 / 2) by lra. apply F. refine (mean_as _ _ _ _ _ (mean_const _ 1) _ eq_refl).
  intros. cbn [total]. rewrite Rplus_0_l. apply ln_exp.
Qed.
Lemma BOOK_82_bound_needs_2 : ~ ltac:(without 2 BOOK_82_bound).
Proof. intros F. assert (B := F _ _ _ _ (-1) _ _ (zeros 2 (-1)) ltac:(lra) two_zeros). assert (P := ln_two). lra. Qed.
Lemma BOOK_82_bound_needs_3 : ~ ltac:(without 3 BOOK_82_bound).
Proof. intros F. assert (B := F _ _ _ _ 2 _ _ (zeros 2 2) ltac:(lra) two_zeros). assert (P := ln_two). lra. Qed.
Lemma BOOK_82_bound_needs_4 : ~ ltac:(without 4 BOOK_82_bound).
Proof.
  intros F. assert (B := F _ _ _ _ 1 _ 1 (zeros 1 1) ltac:(lra) ltac:(lra)). cbn [INR] in B. rewrite ln_1 in B. lra.
Qed.
