(** Second moments through a dense layer and a relu: INIT-14, INIT-19, INIT-20. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
From Proofs Require Import Law InnerProduct.
Import ListNotations.
Open Scope R_scope.

(** the entries have the mean [μ] and the variance [σ]², and are uncorrelated *)
Definition spread_about {Ω} (L : law Ω) d w μ σ :=
  entries_mean L d w μ /\
  forall i j, (i < d)%nat -> (j < d)%nat -> mean L (fun ω => w i ω * w j ω) (if Nat.eq_dec i j then σ ^ 2 + μ ^ 2 else μ ^ 2).

(** INIT-14. A dense layer, whatever the means of its weights and inputs and its bias. With weights of mean 0 and no bias, only
    the second moment of the input is left. *)
Theorem INIT_14_general : forall Ω (L : law Ω) m w x μ σ t τ b,
  independent L (vector w) (vector x) ->
  spread_about L m w μ σ ->
  spread_about L m x t τ ->
  mean L (fun ω => ((Σ i < m, w i ω * x i ω) + b) ^ 2)
    (INR m * (σ ^ 2 * τ ^ 2 + σ ^ 2 * t ^ 2 + μ ^ 2 * τ ^ 2) + (b + INR m * μ * t) ^ 2).
Proof.
  intros Ω L m w x μ σ t τ b I (Mw & W) (Mx & X).
  assert (S : mean L (fun ω => (Σ i < m, w i ω * x i ω) ^ 2)
    (INR m * ((σ ^ 2 + μ ^ 2) * (τ ^ 2 + t ^ 2)) + INR m * (INR m - 1) * (μ ^ 2 * t ^ 2))).
  { apply (mean_square_of_sum L m (fun i ω => w i ω * x i ω)).
    - intros i Hi. assert (P := W i i Hi Hi). assert (Q := X i i Hi Hi).
      destruct (Nat.eq_dec i i); [|contradiction].
      refine (mean_as L _ _ _ _ (I (fun u => u i * u i) (fun v => v i * v i) _ _ P Q) _ eq_refl); intros; unfold vector; ring.
    - intros i j Hi Hj N. assert (P := W i j Hi Hj). assert (Q := X i j Hi Hj).
      destruct (Nat.eq_dec i j); [contradiction|].
      refine (mean_as L _ _ _ _ (I (fun u => u i * u j) (fun v => v i * v j) _ _ P Q) _ eq_refl); intros; unfold vector; ring. }
  assert (M : mean L (fun ω => Σ i < m, w i ω * x i ω) (INR m * (μ * t))).
  { rewrite <- total_const. apply (mean_total L m (fun i ω => w i ω * x i ω)). intros i Hi.
    exact (I (fun u => u i) (fun v => v i) _ _ (Mw i Hi) (Mx i Hi)). }
  refine (mean_as L _ _ _ _ (mean_plus L _ _ _ _ S (mean_plus L _ _ _ _ (mean_scale L (2 * b) _ _ M) (mean_const L (b ^ 2)))) _ _);
    intros; ring.
Qed.

(** Weights that are [μ + σ] or [μ - σ], and inputs that are [t + τ] or [t - τ]. *)
Lemma INIT_14_general_met : forall (m : nat) (μ σ t τ b : R), ltac:(hypotheses (INIT_14_general _
  (pair (copies m (two_points (μ + σ) (μ - σ))) (copies m (two_points (t + τ) (t - τ)))) m first second μ σ t τ b)).
Proof.
  intros. set (A := two_points (μ + σ) (μ - σ)). set (B := two_points (t + τ) (t - τ)).
  destruct (drawn_first m A B μ (σ ^ 2 + μ ^ 2)) as (M & S & U); [cbn; field ..|].
  destruct (drawn_second m A B t (τ ^ 2 + t ^ 2)) as (N & T & V); [cbn; field ..|].
  repeat split; trivial; [exact (pair_independent _ _ (copies m A) (copies m B) (inhabits (fun _ => 0))) | |];
    intros i j Hi Hj; destruct (Nat.eq_dec i j) as [->|E].
  - refine (mean_as _ _ _ _ _ (S j Hj) _ eq_refl). intros. ring.
  - refine (mean_as _ _ _ _ _ (U i j Hi Hj E) _ _); intros; ring.
  - refine (mean_as _ _ _ _ _ (T j Hj) _ eq_refl). intros. ring.
  - refine (mean_as _ _ _ _ _ (V i j Hi Hj E) _ _); intros; ring.
Qed.

(** One number for both, 0 or 2; a weight of 1, and an input of 1, that is said to be 0. *)
Lemma INIT_14_general_needs_1 : ~ ltac:(without 1 INIT_14_general).
Proof.
  intros F. specialize (F R (two_points 0 2) 1%nat (fun _ ω => ω) (fun _ ω => ω) 1 1 1 1 0).
  assert (S : spread_about (two_points 0 2) 1 (fun _ ω => ω) 1 1) by (split; [by_counting | each_two; cbn; lra]).
  specialize (F S S). cbn in F. lra.
Qed.
Lemma INIT_14_general_needs_2 : ~ ltac:(without 2 INIT_14_general).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 1) (fun _ ω => ω) 0 0 0 1 0 ltac:(by_counting)).
  specialize (F ltac:(split; [by_counting | each_two; cbn; lra])). cbn in F. lra.
Qed.
Lemma INIT_14_general_needs_3 : ~ ltac:(without 3 INIT_14_general).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 1) (fun _ ω => ω) 1 0 0 0 0 ltac:(by_counting)).
  specialize (F ltac:(split; [by_counting | each_two; cbn; lra])). cbn in F. lra.
Qed.

Definition relu (x : R) : R := Rmax 0 x.

(** INIT-19. A relu halves the second moment of what is as often [y] as it is [-y]. *)
Theorem INIT_19 : forall Ω (L : law Ω) y σ,
  symmetric L y ->
  mean L (fun ω => y ω ^ 2) (σ ^ 2) ->
  has_mean L (fun ω => relu (y ω) ^ 2) ->
  mean L (fun ω => relu (y ω) ^ 2) (σ ^ 2 / 2).
Proof.
  intros Ω L y σ S M (a & A). enough (E : σ ^ 2 = a + a) by (rewrite E; replace ((a + a) / 2) with a by field; exact A).
  apply (mean_unique L _ _ _ M). refine (mean_as L _ _ _ _ (mean_plus L _ _ _ _ A (S (fun x => relu x ^ 2) a A)) _ eq_refl).
  intros. unfold relu, Rmax. destruct (Rle_dec 0 (y ω)), (Rle_dec 0 (- y ω)); nra.
Qed.

Lemma coin_symmetric : forall s, symmetric (coin s) (fun ω => ω).
Proof. intros s f a H. cbn in *. rewrite Ropp_involutive. lra. Qed.

Lemma blind_symmetric : symmetric (blind Ropp (coin 1)) (fun ω => ω).
Proof. intros f a (E & H). split; [intros; exact (E (- ω)) | apply coin_symmetric, H]. Qed.

Lemma INIT_19_met : forall σ, ltac:(hypotheses (INIT_19 _ (coin σ) (fun ω => ω) σ)).
Proof.
  intros. repeat split; [apply coin_symmetric | cbn; ring |].
  eexists. apply (coin_mean σ (fun x => relu x ^ 2)).
Qed.

Lemma relu_plus : forall x, 0 <= x -> relu x = x. Proof. intros. apply Rmax_right. lra. Qed.
Lemma relu_minus : forall x, x <= 0 -> relu x = 0. Proof. intros. apply Rmax_left. lra. Qed.

(** A number that is always 1; a coin of size 1, said to be of size 2; a law that cannot tell a coin's sides. *)
Lemma INIT_19_needs_1 : ~ ltac:(without 1 INIT_19).
Proof.
  intros F. specialize (F R (coin 1) (fun _ => 1) 1 ltac:(by_counting) ltac:(eexists; apply (coin_mean 1 (fun _ => relu 1 ^ 2)))).
  cbn in F. rewrite relu_plus in F by lra. lra.
Qed.
Lemma INIT_19_needs_2 : ~ ltac:(without 2 INIT_19).
Proof. intros F. destruct (INIT_19_met 1) as (S & M & H). clash (F _ _ _ 2 S H) (INIT_19 _ _ _ _ S M H). Qed.
Lemma INIT_19_needs_3 : ~ ltac:(without 3 INIT_19).
Proof.
  intros F. destruct (F R (blind Ropp (coin 1)) (fun ω => ω) 1) as (B & _).
  - exact blind_symmetric.
  - split; [intros; ring | cbn; lra].
  - specialize (B 1). rewrite (relu_plus 1), (relu_minus (- (1))) in B by lra. lra.
Qed.

(** INIT-20. So behind a dense layer and a relu half of the second moment is left, and weights of variance 2/m keep it. *)
Theorem INIT_20_moment : forall Ω (L : law Ω) m w x σ τ,
  independent L (vector x) (vector w) ->
  square_means L m x (τ ^ 2) ->
  entries_second_moment L m w (σ ^ 2) ->
  uncorrelated_entries L m w ->
  symmetric L (fun ω => Σ i < m, x i ω * w i ω) ->
  has_mean L (fun ω => relu (Σ i < m, x i ω * w i ω) ^ 2) ->
  mean L (fun ω => relu (Σ i < m, x i ω * w i ω) ^ 2) (INR m * σ ^ 2 * τ ^ 2 / 2).
Proof.
  intros Ω L m w x σ τ I X W U S H.
  assert (M := LOSS_19_meant Ω L m x w τ σ I X W U). set (s := INR m * τ ^ 2 * σ ^ 2) in M.
  assert (P : 0 <= s) by (apply (mean_positive L _ _ (fun ω => pow2_ge_0 _) M)).
  replace (INR m * σ ^ 2 * τ ^ 2 / 2) with (sqrt s ^ 2 / 2) by (rewrite pow2_sqrt by exact P; unfold s; field).
  apply INIT_19; [exact S | rewrite pow2_sqrt by exact P; exact M | exact H].
Qed.

Lemma INIT_20_moment_met : forall σ τ, ltac:(hypotheses (INIT_20_moment _ (coin σ) 1%nat (fun _ ω => ω) (fun _ _ => τ) σ τ)).
Proof.
  intros. assert (E : forall ω, (Σ i < 1, τ * ω) = τ * ω) by (intros; cbn; ring).
  repeat split.
  - exact (independent_of_fixed _ _ _ (fun _ => τ) _).
  - intros i j _ _. exists (τ ^ 2). split; [|auto]. refine (mean_as _ _ _ _ _ (mean_const _ (τ ^ 2)) _ eq_refl). intros; ring.
  - intros i _. cbn. ring.
  - intros i j. lia.
  - intros f a H. cbn in *. rewrite <- H. replace (- (0 + τ * σ)) with (0 + τ * - σ) by ring.
    replace (- (0 + τ * - σ)) with (0 + τ * σ) by ring. ring.
  - eexists. apply (coin_mean σ (fun ω => relu (Σ i < 1, τ * ω) ^ 2)).
Qed.

(** A weight that hangs on the input; sizes that are said to be others; one coin for two weights; weights that are always 1;
    a law that cannot tell a coin's sides. *)
Lemma INIT_20_moment_needs_1 : ~ ltac:(without 1 INIT_20_moment).
Proof.
  intros F. specialize (F (R * R)%type (two_points (1, 7) (7, -1)) 1%nat (fun _ => snd) (fun _ => fst) 5 5).
  has_the_others F. lapply F; clear F; [intros F; lapply F; clear F; [intros F|] |].
  - cbn in F. rewrite relu_plus, relu_minus in F by lra. lra.
  - eexists. apply (two_points_mean _ (1, 7) (7, -1) (fun p => relu (Σ i < 1, fst p * snd p) ^ 2)).
  - intros f a H. cbn in *. replace (- (0 + 1 * 7)) with (0 + 7 * -1) by ring. replace (- (0 + 7 * -1)) with (0 + 1 * 7) by ring. lra.
Qed.
Lemma INIT_20_moment_needs_2 : ~ ltac:(without 2 INIT_20_moment).
Proof.
  intros F. destruct (INIT_20_moment_met 1 1) as (I & X & W & U & S & H).
  clash (F _ _ _ _ _ 1 2 I W U S H) (INIT_20_moment _ _ _ _ _ _ _ I X W U S H).
Qed.
Lemma INIT_20_moment_needs_3 : ~ ltac:(without 3 INIT_20_moment).
Proof.
  intros F. destruct (INIT_20_moment_met 1 1) as (I & X & W & U & S & H).
  clash (F _ _ _ _ _ 2 _ I X U S H) (INIT_20_moment _ _ _ _ _ _ _ I X W U S H).
Qed.
Lemma INIT_20_moment_needs_4 : ~ ltac:(without 4 INIT_20_moment).
Proof.
  intros F. specialize (F R (coin 1) 2%nat (fun _ ω => ω) (fun _ _ => 1) 1 1).
  has_the_others F. lapply F; clear F; [intros F; lapply F; clear F; [intros F|] |].
  - cbn in F. rewrite relu_plus, relu_minus in F by lra. lra.
  - eexists. apply (coin_mean 1 (fun ω => relu (Σ i < 2, 1 * ω) ^ 2)).
  - intros f a H. cbn in *. replace (- (0 + 1 * 1 + 1 * 1)) with (0 + 1 * - (1) + 1 * - (1)) by ring.
    replace (- (0 + 1 * - (1) + 1 * - (1))) with (0 + 1 * 1 + 1 * 1) by ring. lra.
Qed.
Lemma INIT_20_moment_needs_5 : ~ ltac:(without 5 INIT_20_moment).
Proof.
  intros F. specialize (F R (coin 1) 1%nat (fun _ _ => 1) (fun _ _ => 1) 1 1).
  has_the_others F. lapply F; clear F; [intros F |].
  - cbn in F. rewrite relu_plus in F by lra. lra.
  - eexists. apply (coin_mean 1 (fun ω => relu (Σ i < 1, 1 * 1) ^ 2)).
Qed.
Lemma INIT_20_moment_needs_6 : ~ ltac:(without 6 INIT_20_moment).
Proof.
  intros F. destruct (F R (blind Ropp (coin 1)) 1%nat (fun _ ω => ω) (fun _ _ => 1) 1 1) as (B & _).
  - exact (independent_of_fixed _ _ _ (fun _ => 1) _).
  - intros i j _ _. exists 1. split; [split; [reflexivity | cbn; lra] | intros; ring].
  - intros i _. split; [intros; ring | cbn; lra].
  - intros i j. lia.
  - intros f a H. replace (fun ω : R => f (- Σ i < 1, 1 * ω)) with (fun ω => f (- ω)) by (extensionality ω; f_equal; cbn; ring).
    apply blind_symmetric. replace (fun ω => f ω) with (fun ω => f (Σ i < 1, 1 * ω)) by (extensionality ω; f_equal; cbn; ring). exact H.
  - specialize (B 1). cbn in B. rewrite (relu_plus (0 + 1 * 1)), (relu_minus (0 + 1 * - (1))) in B by lra. lra.
Qed.
