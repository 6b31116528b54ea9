(** The inner product of two random vectors, and what a dense layer makes of it:
    LOSS-19, LOSS-20, LOSS-22, ATTN-03, ATTN-10, INIT-14, INIT-15, INIT-16. *)
From Coq Require Import Reals Lra Lia List.
From Proofs Require Import Law.
Import ListNotations.
Open Scope R_scope.

(** Two vectors of [d] coins each, drawn apart. *)
Definition two_vectors (d : nat) (s t : R) := pair (copies d (coin s)) (copies d (coin t)).
Definition first (i : nat) (p : (nat -> R) * (nat -> R)) : R := fst p i.
Definition second (i : nat) (p : (nat -> R) * (nat -> R)) : R := snd p i.

Lemma two_vectors_independent : forall d s t, independent (two_vectors d s t) (vector first) (vector second).
Proof. intros. exact (pair_independent _ _ (copies d (coin s)) (copies d (coin t)) (inhabits (fun _ => 0))). Qed.

Lemma two_vectors_first : forall d s t, entries_mean (two_vectors d s t) d first 0 /\
  entries_second_moment (two_vectors d s t) d first (s ^ 2) /\ uncorrelated_entries (two_vectors d s t) d first.
Proof.
  intros. repeat split; repeat intro;
    [apply (mean_first _ _ _ _ (fun w => w i)), coins_mean | apply (mean_first _ _ _ _ (fun w => w i ^ 2)), coins_second_moment
    | apply (mean_first _ _ _ _ (fun w => w i * w j)), coins_uncorrelated]; assumption.
Qed.

Lemma two_vectors_second : forall d s t, entries_mean (two_vectors d s t) d second 0 /\
  entries_second_moment (two_vectors d s t) d second (t ^ 2) /\ uncorrelated_entries (two_vectors d s t) d second.
Proof.
  intros. repeat split; repeat intro;
    [apply (mean_second _ _ _ _ (fun w => w i)), coins_mean | apply (mean_second _ _ _ _ (fun w => w i ^ 2)), coins_second_moment
    | apply (mean_second _ _ _ _ (fun w => w i * w j)), coins_uncorrelated]; assumption.
Qed.

(** Two vectors drawn apart, entry by entry, from two laws: mean, second moment, mean product. *)
Lemma drawn_first : forall d A B a s, mean A (fun x => x) a -> mean A (fun x => x ^ 2) s ->
  entries_mean (pair (copies d A) (copies d B)) d first a /\
  entries_second_moment (pair (copies d A) (copies d B)) d first s /\
  forall i j, (i < d)%nat -> (j < d)%nat -> i <> j -> mean (pair (copies d A) (copies d B)) (fun p => first i p * first j p) (a * a).
Proof.
  intros d A B a s M S. repeat split; repeat intro;
    [apply (mean_first _ _ _ _ (fun w => w i)), (copies_entry A (fun x => x)) | apply (mean_first _ _ _ _ (fun w => w i ^ 2)), (copies_entry A (fun x => x ^ 2))
    | apply (mean_first _ _ _ _ (fun w => w i * w j)), (copies_independent A d i j H H0 H1 (fun x => x) (fun x => x)); apply (copies_entry A (fun x => x))]; assumption.
Qed.

Lemma drawn_second : forall d A B a s, mean B (fun x => x) a -> mean B (fun x => x ^ 2) s ->
  entries_mean (pair (copies d A) (copies d B)) d second a /\
  entries_second_moment (pair (copies d A) (copies d B)) d second s /\
  forall i j, (i < d)%nat -> (j < d)%nat -> i <> j -> mean (pair (copies d A) (copies d B)) (fun p => second i p * second j p) (a * a).
Proof.
  intros d A B a s M S. repeat split; repeat intro;
    [apply (mean_second _ _ _ _ (fun w => w i)), (copies_entry B (fun x => x)) | apply (mean_second _ _ _ _ (fun w => w i ^ 2)), (copies_entry B (fun x => x ^ 2))
    | apply (mean_second _ _ _ _ (fun w => w i * w j)), (copies_independent B d i j H H0 H1 (fun x => x) (fun x => x)); apply (copies_entry B (fun x => x))]; assumption.
Qed.

(** LOSS-19 (meant), LOSS-20, ATTN-03, INIT-15, INIT-16. The inner product of two independent vectors has the second moment
    dσ²τ², as soon as the entries of one of them are uncorrelated. With weights for the one and inputs for the other it is what
    a dense layer makes of the second moment. *)
Theorem LOSS_19_meant : forall Ω (L : law Ω) d w v σ τ,
  independent L (vector w) (vector v) ->
  square_means L d w (σ ^ 2) ->
  entries_second_moment L d v (τ ^ 2) ->
  uncorrelated_entries L d v ->
  mean L (fun ω => (Σ i < d, w i ω * v i ω) ^ 2) (INR d * σ ^ 2 * τ ^ 2).
Proof.
  intros Ω L d w v σ τ I W V U.
  refine (mean_as L _ _ _ _ (mean_square_of_sum L d (fun i ω => w i ω * v i ω) (σ ^ 2 * τ ^ 2) 0 _ _) _ _);
    [ | | reflexivity | ring].
  - intros i Hi. destruct (W i i Hi Hi) as (c & C & E). rewrite <- (E eq_refl).
    refine (mean_as L _ _ _ _ (I (fun x => x i * x i) (fun y => y i ^ 2) _ _ C (V i Hi)) _ eq_refl).
    intros. unfold vector. ring.
  - intros i j Hi Hj N. destruct (W i j Hi Hj) as (c & C & _).
    refine (mean_as L _ _ _ _ (I (fun x => x i * x j) (fun y => y i * y j) _ _ C (U i j Hi Hj N)) _ _);
      intros; unfold vector; ring.
Qed.

Lemma LOSS_19_meant_met : forall (d : nat) (σ τ : R), ltac:(hypotheses (LOSS_19_meant _ (two_vectors d σ τ) d first second σ τ)).
Proof.
  intros. repeat split; [apply two_vectors_independent | apply square_means_of_uncorrelated | | ]; apply two_vectors_first || apply two_vectors_second.
Qed.

(** One number for both, 1 or 7; a size that is said to be another; one coin for two entries. *)
Lemma LOSS_19_meant_needs_1 : ~ ltac:(without 1 LOSS_19_meant).
Proof. intros F. specialize (F R (two_points 1 7) 1%nat (fun _ ω => ω) (fun _ ω => ω) 5 5). counted_out F. Qed.
Lemma LOSS_19_meant_needs_2 : ~ ltac:(without 2 LOSS_19_meant).
Proof. intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 1) (fun _ ω => ω) 2 1). counted_out F. Qed.
Lemma LOSS_19_meant_needs_3 : ~ ltac:(without 3 LOSS_19_meant).
Proof. intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 1) (fun _ ω => ω) 1 2). counted_out F. Qed.
Lemma LOSS_19_meant_needs_4 : ~ ltac:(without 4 LOSS_19_meant).
Proof. intros F. specialize (F R (coin 1) 2%nat (fun _ _ => 1) (fun _ ω => ω) 1 1). counted_out F. Qed.

(** the entries have mean 0 and second moment 1 and are uncorrelated *)
Definition standard_entries {Ω} (L : law Ω) d w :=
  entries_mean L d w 0 /\ entries_second_moment L d w 1 /\ uncorrelated_entries L d w.

(** ATTN-10. An inner product of standard queries and keys, divided by the root of the head's size, has the variance 1. *)
Theorem ATTN_10_variance : forall Ω (L : law Ω) d q k,
  independent L (vector q) (vector k) ->
  standard_entries L d q ->
  standard_entries L d k ->
  (0 < d)%nat ->
  variance L (fun ω => (Σ i < d, q i ω * k i ω) / sqrt (INR d)) 1.
Proof.
  intros Ω L d q k I (Mq & Sq & Uq) (Mk & Sk & Uk) Hd.
  assert (D := lt_0_INR d Hd). assert (R := sqrt_lt_R0 _ D).
  replace 1 with (1 - 0 ^ 2) by ring. apply variance_from_moments.
  - refine (mean_as L _ _ _ _ (mean_scale L (/ sqrt (INR d)) _ _ (mean_total L d (fun i ω => q i ω * k i ω) (fun _ => 0 * 0) _)) _ _).
    + intros i Hi. exact (I (fun x => x i) (fun y => y i) _ _ (Mq i Hi) (Mk i Hi)).
    + intros. unfold Rdiv. ring.
    + rewrite total_const. ring.
  - refine (mean_as L _ _ _ _ (mean_scale L (/ INR d) _ _ (LOSS_19_meant Ω L d q k 1 1 I _ _ Uk)) _ _).
    + apply square_means_of_uncorrelated; [exact Uq | replace (1 ^ 2) with 1 by ring; exact Sq].
    + replace (1 ^ 2) with 1 by ring. exact Sk.
    + intros. unfold Rdiv. rewrite Rpow_mult_distr, pow_inv, pow2_sqrt by lra. ring.
    + field. lra.
Qed.

(** Six points of mean 0 and mean square 1 that are not all of size 1. *)
Definition six : law R := equally_likely 2 [-1; -1; 0; 0; 0].

Lemma ATTN_10_variance_met : forall d, (0 < d)%nat ->
  ltac:(hypotheses (ATTN_10_variance _ (pair (copies d six) (copies d six)) d first second)).
Proof.
  intros. destruct (drawn_first d six six 0 1) as (A & B & C); [cbn; lra ..|].
  destruct (drawn_second d six six 0 1) as (D & E & G); [cbn; lra ..|]. rewrite Rmult_0_l in C, G.
  repeat split; trivial. exact (pair_independent _ _ (copies d six) (copies d six) (inhabits (fun _ => 0))).
Qed.

(** One coin for both; a query of zeros; a key of zeros; heads of size 0. *)
Lemma ATTN_10_variance_needs_1 : ~ ltac:(without 1 ATTN_10_variance).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ ω => ω) (fun _ ω => ω)).
  assert (S : standard_entries (coin 1) 1 (fun _ ω => ω)) by (repeat split; by_counting).
  destruct (F S S ltac:(lia)) as (m & M & V). cbn in M, V. rewrite sqrt_1 in *. replace m with 1 in V by lra. lra.
Qed.
Lemma ATTN_10_variance_needs_2 : ~ ltac:(without 2 ATTN_10_variance).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 0) (fun _ ω => ω) ltac:(by_counting)).
  destruct F as (m & M & V); [repeat split; by_counting | lia |]. cbn in M, V. rewrite sqrt_1 in *. replace m with 0 in V by lra. lra.
Qed.
Lemma ATTN_10_variance_needs_3 : ~ ltac:(without 3 ATTN_10_variance).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ ω => ω) (fun _ _ => 0)).
  destruct F as (m & M & V); [ | repeat split; by_counting | lia |].
  - intros f g a b A B. rewrite Rmult_comm. refine (mean_as _ _ _ _ _ (independent_of_fixed _ _ _ (fun _ => 0) _ g f b a B A) _ eq_refl).
    intros. unfold vector. ring.
  - cbn in M, V. rewrite sqrt_1 in *. replace m with 0 in V by lra. lra.
Qed.
Lemma ATTN_10_variance_needs_4 : ~ ltac:(without 4 ATTN_10_variance).
Proof.
  intros F. specialize (F R (coin 1) O (fun _ _ => 0) (fun _ _ => 0) ltac:(by_counting)).
  destruct F as (m & M & V); [repeat split; by_counting .. |]. cbn in M, V. unfold Rdiv in *. rewrite Rmult_0_l in *.
  replace m with 0 in V by lra. lra.
Qed.

(** The cosine of the angle between two vectors. *)
Definition cosine (d : nat) (x y : nat -> R) : R :=
  (Σ i < d, x i * y i) / (sqrt (Σ i < d, x i ^ 2) * sqrt (Σ i < d, y i ^ 2)).

(** Entry [i] of the direction of a vector. *)
Definition direction {Ω} (d : nat) (w : nat -> Ω -> R) (i : nat) (ω : Ω) : R := w i ω / sqrt (Σ j < d, w j ω ^ 2).

(** the entries of the direction are uncorrelated, and have one second moment *)
Definition isotropic {Ω} (L : law Ω) d w :=
  uncorrelated_entries L d (direction d w) /\ exists s, entries_second_moment L d (direction d w) s.

(** the vector is never 0 *)
Definition never_zero {Ω} d (w : nat -> Ω -> R) := forall ω, 0 < Σ i < d, w i ω ^ 2.

(** LOSS-22. With any fixed vector a random direction has a cosine whose mean square is 1/d. *)
Theorem LOSS_22_angle : forall Ω (L : law Ω) d w c,
  isotropic L d w ->
  never_zero d w ->
  0 < Σ i < d, c i ^ 2 ->
  mean L (fun ω => cosine d c (vector w ω) ^ 2) (1 / INR d).
Proof.
  intros Ω L d w c (U & s & S) P C.
  assert (D : s * INR d = 1).
  { apply (mean_unique L (fun ω => Σ i < d, direction d w i ω ^ 2)).
    - refine (mean_as L _ _ _ _ (mean_total L d _ _ S) _ _); intros; [reflexivity | rewrite total_const; ring].
    - refine (mean_as L _ _ _ _ (mean_const L 1) _ eq_refl). intros ω. specialize (P ω).
      rewrite (total_same d _ (fun i => / (Σ j < d, w j ω ^ 2) * w i ω ^ 2)).
      + rewrite total_scale. field. lra.
      + intros. unfold direction, Rdiv. rewrite Rpow_mult_distr, pow_inv, pow2_sqrt by lra. ring. }
  assert (Z : INR d <> 0) by (intros E; rewrite E in D; lra).
  refine (mean_as L _ _ _ _ (mean_scale L (/ Σ i < d, c i ^ 2) _ _ (mean_square_of_combination L d c _ s S U)) _ _).
  - intros ω. specialize (P ω). assert (Q := sqrt_lt_R0 _ P). unfold cosine, direction, vector.
    rewrite (total_same d (fun i => c i * (w i ω / _)) (fun i => / sqrt (Σ j < d, w j ω ^ 2) * (c i * w i ω)));
      [|intros; unfold Rdiv; ring].
    rewrite total_scale. unfold Rdiv. rewrite !Rpow_mult_distr, pow_inv, Rpow_mult_distr, pow_inv, !pow2_sqrt by lra.
    field. split; [apply Rgt_not_eq, P | lra].
  - replace s with (/ INR d) by (apply (Rmult_eq_reg_r (INR d)); [rewrite D; field|]; trivial). field. split; [trivial | lra].
Qed.

(** The side on which a coin lies. *)
Definition side (x : R) : R := if Rle_dec 0 x then 1 else -1.
Lemma side_square : forall x, side x ^ 2 = 1.
Proof. intros. unfold side. destruct (Rle_dec 0 x); ring. Qed.
Definition sides (i : nat) (ω : nat -> R) : R := side (ω i).

Lemma sides_length : forall d ω, (Σ i < d, sides i ω ^ 2) = INR d.
Proof. intros. rewrite (total_same d _ (fun _ => 1)), total_const; [ring | intros; apply side_square]. Qed.

Lemma LOSS_22_angle_met : forall d, (0 < d)%nat ->
  ltac:(hypotheses (LOSS_22_angle _ (copies d (coin 1)) d sides (fun _ => 1))).
Proof.
  intros d Hd. assert (D := lt_0_INR d Hd).
  assert (Z : mean (coin 1) side 0).
  { cbn. unfold side. destruct (Rle_dec 0 1), (Rle_dec 0 (- (1))); lra. }
  repeat split.
  - intros i j Hi Hj N.
    refine (mean_as _ _ _ _ _ (mean_scale _ (/ INR d) _ _ (copies_independent (coin 1) d i j Hi Hj N side side 0 0
      (copies_entry _ side _ d i Hi Z) (copies_entry _ side _ d j Hj Z))) _ _); [|ring].
    intros ω. unfold direction. rewrite sides_length. unfold Rdiv, sides, entry.
    rewrite <- (sqrt_sqrt (INR d)) at 3 by lra. rewrite Rinv_mult. ring.
  - exists (/ INR d). intros i Hi. refine (mean_as _ _ _ _ _ (mean_const _ (/ INR d)) _ eq_refl).
    intros ω. unfold direction. rewrite sides_length. unfold Rdiv, sides.
    rewrite Rpow_mult_distr, side_square, pow_inv, pow2_sqrt by lra. ring.
  - intros ω. rewrite sides_length. exact D.
  - rewrite total_const. lra.
Qed.

(** A vector that points one way; a vector of zeros; a fixed vector of zeros. *)
Lemma LOSS_22_angle_needs_1 : ~ ltac:(without 1 LOSS_22_angle).
Proof.
  intros F. specialize (F R (coin 1) 2%nat (fun i _ => if i then 1 else 0) (fun i => if i then 1 else 0)).
  specialize (F ltac:(intros ω; cbn; lra) ltac:(cbn; lra)).
  cbn in F. unfold cosine, vector in F. cbn in F. replace (0 + 1 * (1 * 1) + 0 * (0 * 1)) with 1 in F by ring. rewrite sqrt_1 in F. lra.
Qed.
Lemma LOSS_22_angle_needs_2 : ~ ltac:(without 2 LOSS_22_angle).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 0) (fun _ => 1)). cbn in F. unfold cosine, vector in F. cbn in F.
  assert (1 * (1 + (1 + 0)) = 0); [|lra]. enough (1 / 1 * (1 + (1 + 0)) = 0) by lra. rewrite <- F; [|split|lra].
  - replace (0 + 1 * 0) with 0 by ring. unfold Rdiv. ring.
  - intros i j. lia.
  - exists 0. intros i Hi. unfold direction. cbn. unfold Rdiv. ring.
Qed.
Lemma LOSS_22_angle_needs_3 : ~ ltac:(without 3 LOSS_22_angle).
Proof.
  intros F. destruct (LOSS_22_angle_met 1) as (I & N & _); [lia|]. assert (B := F _ _ _ _ (fun _ => 0) I N).
  enough (E : 1 / INR 1 = 0) by (cbn in E; lra). apply (mean_unique _ _ _ _ B).
  refine (mean_as _ _ _ _ _ (mean_const _ 0) _ eq_refl). intros. unfold cosine. cbn. unfold Rdiv. ring.
Qed.
