(** SELU for standard normal numbers, from the density: INIT-11, INIT-21 (elu), INIT-27, INIT-28, INIT-32, BOOK-58. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Proofs Require Import Law Normal Truncated Layers.
Open Scope R_scope.

(** ELU with the slope [a] of its negative side, and SELU. *)
Definition elu (a x : R) : R := if Rle_dec x 0 then a * (exp x - 1) else x.
Definition selu (λ α x : R) : R := λ * elu α x.

(** The mean of what has its own formula on each side of 0. *)
Lemma mean_by_sides : forall (f p q : R -> R) a b,
  (forall z, z < 0 -> f z = p z) -> (forall z, 0 < z -> f z = q z) ->
  left_half (fun z => p z * bell z) a -> right_half (fun z => q z * bell z) b -> mean (normal 1) f ((a + b) / (2 * half)).
Proof.
  intros f p q a b P Q A B. assert (H := half_positive).
  change (line (fun z => f (1 * z) * density z) ((a + b) / (2 * half))).
  apply (is_RInt_gen_ext (fun z => scal (/ (2 * half)) (f z * bell z))).
  { apply filter_forall. intros ab z _. change (/ (2 * half) * (f z * bell z) = f (1 * z) * (bell z / (2 * half))).
    rewrite Rmult_1_l. field. lra. }
  replace ((a + b) / (2 * half)) with (scal (/ (2 * half)) (a + b)) by (change (/ (2 * half) * (a + b) = (a + b) / (2 * half)); field; lra).
  apply (is_RInt_gen_scal (V := R_NormedModule)), line_from_halves.
  - refine (is_RInt_gen_ext _ _ _ _ A). exists (fun x => x < 0) (fun x => x = 0); [exists 0; auto | reflexivity |].
    cbn. intros x y X -> z. rewrite Rmin_left, Rmax_right by lra. intros Z. rewrite P by lra. reflexivity.
  - refine (is_RInt_gen_ext _ _ _ _ B). exists (fun x => x = 0) (fun x => 0 < x); [reflexivity | exists 0; auto |].
    cbn. intros x y -> Y z. rewrite Rmin_left, Rmax_right by lra. intros Z. rewrite Q by lra. reflexivity.
Qed.

(** The bell, tilted by [exp (s z)], on the left: its part that [erfc] names. *)
Lemma tilt_left : forall s, left_half (fun z => exp (s * z) * bell z) (half * (exp (s ^ 2 / 2) * erfc (s / sqrt 2))).
Proof.
  intros s. destruct (part_shift_limits s) as [_ L].
  replace (half * (exp (s ^ 2 / 2) * erfc (s / sqrt 2))) with (exp (s ^ 2 / 2) * part (0 - s) - exp (s ^ 2 / 2) * - half)
    by (unfold erfc; replace (0 - s) with (- s) by ring; rewrite part_odd, part_is_erf; ring).
  apply (left_from (fun z => exp (s ^ 2 / 2) * part (z - s))); [intros; apply tilt_derive | bell_ready | exact (is_lim_scal_l _ _ m_infty _ L)].
Qed.

Lemma monomials_right : forall a b, right_half (fun z => (a * z + b * z ^ 2) * bell z) (a + b * half).
Proof.
  intros a b. set (c := fun n => match n with O => - a | 1%nat => - b | _ => 0 end).
  replace (a + b * half) with (b * half - antiderivative b c 0)
    by (unfold antiderivative, c; cbn [total]; rewrite part_0; unfold bell; replace (- 0 ^ 2 / 2) with 0 by field; rewrite exp_0; ring).
  apply right_from; [unfold c; differentiate | bell_ready | apply antiderivative_limit].
Qed.

Lemma exponentials_left : forall s a b c,
  left_half (fun z => (a * exp (2 * s * z) + b * exp (s * z) + c) * bell z)
    (half * (a * (exp (2 * s ^ 2) * erfc (sqrt 2 * s)) + b * (exp (s ^ 2 / 2) * erfc (s / sqrt 2)) + c)).
Proof.
  intros s a b c. assert (P := sqrt_lt_R0 2 ltac:(lra)).
  assert (A := tilt_left (2 * s)). assert (B := tilt_left s). assert (C := tilt_left 0).
  replace ((2 * s) ^ 2 / 2) with (2 * s ^ 2) in A by field.
  replace (2 * s / sqrt 2) with (sqrt 2 * s) in A by (set (q := sqrt 2) in *; replace 2 with (q * q) by (apply sqrt_sqrt; lra); field; lra).
  replace (0 ^ 2 / 2) with 0 in C by field. replace (0 / sqrt 2) with 0 in C by (field; lra).
  assert (E : erfc 0 = 1) by (unfold erfc, erf; rewrite (RInt_point (V := R_CompleteNormedModule)); change (1 - 2 / sqrt PI * 0 = 1); ring).
  rewrite exp_0, E in C.
  apply (is_RInt_gen_ext (fun z => plus (plus (scal a (exp (2 * s * z) * bell z)) (scal b (exp (s * z) * bell z))) (scal c (exp (0 * z) * bell z)))).
  { apply filter_forall. intros xy z _. replace (0 * z) with 0 by ring. rewrite exp_0.
    change (a * (exp (2 * s * z) * bell z) + b * (exp (s * z) * bell z) + c * (1 * bell z) = (a * exp (2 * s * z) + b * exp (s * z) + c) * bell z). ring. }
  match goal with |- is_RInt_gen _ _ _ ?v => replace v with
    (plus (plus (scal a (half * (exp (2 * s ^ 2) * erfc (sqrt 2 * s)))) (scal b (half * (exp (s ^ 2 / 2) * erfc (s / sqrt 2))))) (scal c (half * (1 * 1)))) end.
  - exact (is_RInt_gen_plus _ _ _ _ (is_RInt_gen_plus _ _ _ _ (is_RInt_gen_scal _ a _ A) (is_RInt_gen_scal _ b _ B)) (is_RInt_gen_scal _ c _ C)).
  - change (a * (half * (exp (2 * s ^ 2) * erfc (sqrt 2 * s))) + b * (half * (exp (s ^ 2 / 2) * erfc (s / sqrt 2))) + c * (half * (1 * 1)) =
      half * (a * (exp (2 * s ^ 2) * erfc (sqrt 2 * s)) + b * (exp (s ^ 2 / 2) * erfc (s / sqrt 2)) + c)). ring.
Qed.

(** What takes the place of ½σ² where an ELU stands for a relu, at every slope. *)
Lemma elu_second_moment : forall a (σ : posreal),
  mean (normal 1) (fun z => elu a (σ * z) ^ 2) ((σ ^ 2 + a ^ 2 * (exp (2 * σ ^ 2) * erfc (sqrt 2 * σ) - 2 * exp (σ ^ 2 / 2) * erfc (σ / sqrt 2) + 1)) / 2).
Proof.
  intros a [s S]. cbn [pos]. assert (H := half_positive).
  refine (mean_as _ _ _ _ _ (mean_by_sides _ _ _ _ _ _ _ (exponentials_left s (a ^ 2) (-2 * a ^ 2) (a ^ 2)) (monomials_right 0 (s ^ 2))) (fun _ => eq_refl) _).
  - intros z Z. unfold elu. destruct (Rle_dec (s * z) 0); [|nra].
    replace (exp (2 * s * z)) with (exp (s * z) * exp (s * z)) by (rewrite <- exp_plus; f_equal; ring). ring.
  - intros z Z. unfold elu. destruct (Rle_dec (s * z) 0); [nra | ring].
  - field. lra.
Qed.

(** INIT-21. A normal pre-activation of standard deviation σ leaves an ELU with a second moment that is no multiple of σ². *)
Theorem INIT_21_elu : forall σ : posreal, mean (normal 1) (fun z => elu 1 (σ * z) ^ 2)
  ((σ ^ 2 + exp (2 * σ ^ 2) * erfc (sqrt 2 * σ) - 2 * exp (σ ^ 2 / 2) * erfc (σ / sqrt 2) + 1) / 2).
Proof. intros. refine (mean_as _ _ _ _ _ (elu_second_moment 1 σ) (fun _ => eq_refl) _). field. Qed.

Lemma elu_mean : forall a, mean (normal 1) (elu a) ((1 - a * (half * (1 - exp (1 / 2) * erfc (1 / sqrt 2)))) / (2 * half)).
Proof.
  intros a. assert (H := half_positive).
  refine (mean_as _ _ _ _ _ (mean_by_sides _ _ _ _ _ _ _ (exponentials_left 1 0 a (- a)) (monomials_right 1 0)) (fun _ => eq_refl) _).
  - intros z Z. unfold elu. destruct (Rle_dec z 0); [|lra]. rewrite Rmult_1_l. ring.
  - intros z Z. unfold elu. destruct (Rle_dec z 0); [lra | ring].
  - replace (1 ^ 2 / 2) with (1 / 2) by field. field. lra.
Qed.

(** The two values of [erfc], and what SELU makes of them. *)
Definition K : R := exp 2 * erfc (sqrt 2) - 2 * exp (1 / 2) * erfc (1 / sqrt 2) + 1.
Definition α₀ : R := sqrt (2 / PI) / (1 - exp (1 / 2) * erfc (1 / sqrt 2)).
Definition λ₀ : R := / sqrt ((1 + α₀ ^ 2 * K) / 2).

(** The tail of the bell, between two quotients. *)
Definition tail (x : R) : R := half - part x.

Lemma falls_to_its_limit : forall (f f' : R -> R) x, 0 < x -> (forall y, 0 < y -> is_derive f y (f' y)) -> (forall y, 0 < y -> f' y <= 0) ->
  is_lim f p_infty 0 -> 0 <= f x.
Proof.
  intros f f' x X D N L.
  apply (is_lim_le_loc f (fun _ => f x) p_infty 0 (f x)); [ | exact L | apply is_lim_const]. exists x. intros y Y.
  destruct (MVT_gen f x y f') as (c & C & E).
  - intros z Z. rewrite Rmin_left in Z by lra. apply D. lra.
  - intros z Z. rewrite Rmin_left in Z by lra. apply continuity_pt_filterlim, (ex_derive_continuous f). eexists. apply D. lra.
  - rewrite Rmin_left in C by lra. assert (f' c <= 0) by (apply N; lra). nra.
Qed.

Lemma tail_limit : is_lim tail p_infty 0.
Proof.
  replace (Finite 0) with (Finite (half - half)) by (f_equal; ring). apply is_lim_minus'; [apply is_lim_const | apply part_limit].
Qed.

Lemma quotient_falls : forall g, (forall t, 1 < t -> 0 <= g t <= 3) -> is_lim (fun t => bell t * g t) p_infty 0.
Proof.
  intros g G. apply (falls_to_0 _ 48). intros t T. specialize (G t T). assert (B := bell_below t ltac:(lra)).
  assert (E := exp_pos (- t ^ 2 / 2)). fold (bell t) in E. rewrite Rabs_pos_eq by nra. assert (1 <= t ^ 3) by nra.
  replace (48 / t) with (16 / t * 3) by (field; lra). apply Rmult_le_compat; nra.
Qed.

Lemma tail_below : forall x, 0 < x -> tail x <= bell x * ((x ^ 2 + 2) / (x ^ 3 + 3 * x)).
Proof.
  intros x X. enough (0 <= bell x * ((x ^ 2 + 2) / (x ^ 3 + 3 * x)) - tail x) by lra.
  apply (falls_to_its_limit (fun x => bell x * ((x ^ 2 + 2) / (x ^ 3 + 3 * x)) - tail x) (fun x => - (6 * bell x / (x ^ 2 * (x ^ 2 + 3) ^ 2)))); [exact X | | |].
  - intros y Y. assert (0 < y ^ 3 + 3 * y) by (assert (0 < y ^ 3) by (apply pow_lt, Y); lra). unfold tail, bell. auto_derive.
    + repeat split; [lra | eexists; apply part_derive].
    + replace (Derive (fun x => part x) y) with (bell y) by (symmetry; apply is_derive_unique, part_derive). unfold bell. exps. field.
      repeat split; nra.
  - intros y Y. assert (E := exp_pos (- y ^ 2 / 2)). fold (bell y) in E. enough (0 <= 6 * bell y / (y ^ 2 * (y ^ 2 + 3) ^ 2)) by lra.
    apply Rlt_le, Rdiv_lt_0_compat; [lra | apply Rmult_lt_0_compat; apply pow_lt; nra].
  - replace (Finite 0) with (Finite (0 - 0)) by (f_equal; ring). apply is_lim_minus'; [apply quotient_falls | apply tail_limit].
    intros t T. assert (0 < t ^ 3 + 3 * t) by (assert (0 < t ^ 3) by (apply pow_lt; lra); lra). split; [apply Rlt_le, Rdiv_lt_0_compat; nra|].
    apply (Rmult_le_reg_r (t ^ 3 + 3 * t)); [lra|]. replace ((t ^ 2 + 2) / (t ^ 3 + 3 * t) * (t ^ 3 + 3 * t)) with (t ^ 2 + 2) by (field; lra). nra.
Qed.

Lemma tail_above : forall x, 0 < x -> bell x * (x / (x ^ 2 + 1)) <= tail x.
Proof.
  intros x X. enough (0 <= tail x - bell x * (x / (x ^ 2 + 1))) by lra.
  apply (falls_to_its_limit (fun x => tail x - bell x * (x / (x ^ 2 + 1))) (fun x => - (2 * bell x / (x ^ 2 + 1) ^ 2))); [exact X | | |].
  - intros y Y. assert (0 < y ^ 2 + 1) by nra. unfold tail, bell. auto_derive.
    + repeat split; [eexists; apply part_derive | nra].
    + replace (Derive (fun x => part x) y) with (bell y) by (symmetry; apply is_derive_unique, part_derive). unfold bell. exps. field. nra.
  - intros y Y. assert (E := exp_pos (- y ^ 2 / 2)). fold (bell y) in E. enough (0 <= 2 * bell y / (y ^ 2 + 1) ^ 2) by lra.
    apply Rlt_le, Rdiv_lt_0_compat; [lra | apply pow_lt; nra].
  - replace (Finite 0) with (Finite (0 - 0)) by (f_equal; ring). apply is_lim_minus'; [apply tail_limit | apply quotient_falls].
    intros t T. split; [apply Rlt_le, Rdiv_lt_0_compat; nra|].
    apply (Rmult_le_reg_r (t ^ 2 + 1)); [nra|]. replace (t / (t ^ 2 + 1) * (t ^ 2 + 1)) with t by (field; nra). nra.
Qed.

(** [A] and [B], of which the second moment map is made, in bounds that are good enough; they need of π only that it exceeds 3. *)
Definition A₀ : R := exp 2 * erfc (sqrt 2).
Definition B₀ : R := exp (1 / 2) * erfc (1 / sqrt 2).

Lemma tilted_tail : forall x, exp (x ^ 2 / 2) * erfc (x / sqrt 2) = exp (x ^ 2 / 2) * tail x / half.
Proof. intros x. assert (H := half_positive). unfold erfc, tail. rewrite part_is_erf. field. lra. Qed.

Lemma A₀B₀ : 2 / 5 <= A₀ * half <= 3 / 7 /\ 1 / 2 <= B₀ * half <= 3 / 4 /\ 6 / 5 < half < 29 / 20.
Proof.
  assert (H := half_positive). assert (P := sqrt_lt_R0 2 ltac:(lra)).
  assert (A : A₀ * half = exp (2 ^ 2 / 2) * tail 2).
  { unfold A₀. replace (sqrt 2) with (2 / sqrt 2) by (set (q := sqrt 2) in *; replace 2 with (q * q) by (apply sqrt_sqrt; lra); field; lra).
    replace 2 with (2 ^ 2 / 2) at 1 by field. rewrite tilted_tail. field. lra. }
  assert (B : B₀ * half = exp (1 ^ 2 / 2) * tail 1) by (unfold B₀; replace (1 / 2) with (1 ^ 2 / 2) by field; rewrite tilted_tail; field; lra).
  assert (E : forall x, exp (x ^ 2 / 2) * bell x = 1) by (intros; unfold bell; rewrite <- exp_plus, <- exp_0; f_equal; field).
  assert (U := fun x X => Rmult_le_compat_l _ _ _ (Rlt_le _ _ (exp_pos (x ^ 2 / 2))) (tail_below x X)).
  assert (V := fun x X => Rmult_le_compat_l _ _ _ (Rlt_le _ _ (exp_pos (x ^ 2 / 2))) (tail_above x X)).
  assert (U2 := U 2 ltac:(lra)). assert (U1 := U 1 ltac:(lra)). assert (V2 := V 2 ltac:(lra)). assert (V1 := V 1 ltac:(lra)).
  rewrite <- Rmult_assoc, E in U2, U1, V2, V1. rewrite A, B. assert (Q : half * half = PI / 2) by (apply sqrt_sqrt; assert (T := PI_RGT_0); lra).
  assert (Q2 := PI2_3_2). unfold PI2 in Q2. assert (Q3 := PI_4). repeat split; try lra; nra.
Qed.

Lemma constants : 0 < 1 - B₀ /\ 0 < K /\ 1 < α₀ /\ 0 < λ₀ ^ 2 /\ λ₀ ^ 2 * (1 + α₀ ^ 2 * K) = 2.
Proof.
  destruct A₀B₀ as (A & B & H). assert (H0 := half_positive).
  assert (K1 : K = A₀ - 2 * B₀ + 1) by (unfold K, A₀, B₀; ring).
  assert (B1 : 0 < B₀ < 5 / 8) by nra. assert (K2 : 0 < K) by (rewrite K1; nra).
  assert (C : α₀ * (half * (1 - B₀)) = 1).
  { assert (P := PI_RGT_0). unfold α₀. fold B₀. assert (Q : sqrt (2 / PI) * half = 1).
    { unfold half. rewrite <- sqrt_mult by (apply Rlt_le, Rdiv_lt_0_compat; lra). replace (2 / PI * (PI / 2)) with 1 by (field; lra). apply sqrt_1. }
    transitivity (sqrt (2 / PI) * half); [field; lra | exact Q]. }
  assert (D : 1 < α₀) by nra.
  assert (E : 0 < (1 + α₀ ^ 2 * K) / 2) by nra. assert (F : λ₀ ^ 2 = / ((1 + α₀ ^ 2 * K) / 2)).
  { unfold λ₀. rewrite pow_inv, pow2_sqrt by lra. reflexivity. }
  repeat split; try lra; rewrite F; [apply Rinv_0_lt_compat, E | field; nra].
Qed.

Lemma elu_moment_1 : forall a, mean (normal 1) (fun z => elu a z ^ 2) ((1 + a ^ 2 * K) / 2).
Proof.
  intros a. refine (mean_as _ _ _ _ _ (elu_second_moment a (mkposreal 1 Rlt_0_1)) _ _); cbn [pos]; intros.
  - rewrite Rmult_1_l. reflexivity.
  - unfold K. replace (sqrt 2 * 1) with (sqrt 2) by ring. replace (2 * 1 ^ 2) with 2 by ring. replace (1 ^ 2 / 2) with (1 / 2) by field. field.
Qed.

Lemma selu_mean : forall λ α, mean (normal 1) (selu λ α) (λ * ((1 - α * (half * (1 - exp (1 / 2) * erfc (1 / sqrt 2)))) / (2 * half))).
Proof. intros. exact (mean_scale _ λ _ _ (elu_mean α)). Qed.

Lemma selu_moment : forall λ α, mean (normal 1) (fun z => selu λ α z ^ 2) (λ ^ 2 * ((1 + α ^ 2 * K) / 2)).
Proof. intros. refine (mean_as _ _ _ _ _ (mean_scale _ (λ ^ 2) _ _ (elu_moment_1 α)) _ eq_refl). intros. unfold selu. ring. Qed.

Lemma inv_same : forall a b, / a = / b -> a = b.
Proof. intros a b E. rewrite <- (Rinv_inv a), E. apply Rinv_inv. Qed.

Lemma α₀_inverse : / α₀ = half * (1 - exp (1 / 2) * erfc (1 / sqrt 2)).
Proof.
  destruct constants as (D & _). unfold B₀ in D. assert (P := PI_RGT_0). unfold α₀, half. assert (0 < sqrt (2 / PI)) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; lra).
  replace (PI / 2) with (/ (2 / PI)) by (field; lra). rewrite sqrt_inv. field. lra.
Qed.

(** INIT-27, INIT-32 (alpha). Mean 0 fixes α, for whatever has a second moment of 1. *)
Theorem INIT_27_alpha : forall λ α,
  mean (normal 1) (selu λ α) 0 ->
  mean (normal 1) (fun z => selu λ α z ^ 2) 1 ->
  / α = sqrt (PI / 2) * (1 - exp (1 / 2) * erfc (1 / sqrt 2)).
Proof.
  intros λ α A B. assert (H := half_positive). fold half. rewrite <- α₀_inverse.
  assert (E := mean_unique _ _ _ _ A (selu_mean λ α)). assert (Q := mean_unique _ _ _ _ B (selu_moment λ α)).
  rewrite <- α₀_inverse in E. destruct constants as (_ & _ & C & _).
  assert (λ <> 0) by (intros Z; rewrite Z in Q; lra).
  assert (Z : 1 - α * / α₀ = 0).
  { apply (Rmult_eq_reg_l (λ / (2 * half))); [|apply Rmult_integral_contrapositive_currified; [assumption | apply Rinv_neq_0_compat; lra]].
    rewrite Rmult_0_r, E. field. lra. }
  replace α with α₀; [reflexivity|]. apply (Rmult_eq_reg_r (/ α₀)); [|apply Rinv_neq_0_compat; lra]. rewrite Rinv_r by lra. lra.
Qed.

(** INIT-27, INIT-32 (lambda). The second moment 1 then fixes λ, up to its sign. *)
Theorem INIT_27_lambda : forall λ α,
  mean (normal 1) (selu λ α) 0 ->
  mean (normal 1) (fun z => selu λ α z ^ 2) 1 ->
  / λ ^ 2 = (1 + (sqrt (2 / PI) / (1 - exp (1 / 2) * erfc (1 / sqrt 2))) ^ 2
    * (exp 2 * erfc (sqrt 2) - 2 * exp (1 / 2) * erfc (1 / sqrt 2) + 1)) / 2.
Proof.
  intros λ α A B. fold K α₀. assert (E := INIT_27_alpha λ α A B). fold half in E. rewrite <- α₀_inverse in E.
  apply inv_same in E. assert (Q := mean_unique _ _ _ _ B (selu_moment λ α)). rewrite E in Q.
  destruct constants as (_ & P & C & _). assert (R : (1 + α₀ ^ 2 * K) / 2 <> 0) by nra.
  assert (λ ^ 2 <> 0) by (intros Z; rewrite Z in Q; lra).
  apply (Rmult_eq_reg_l (λ ^ 2)); [|assumption]. rewrite Rinv_r by assumption. exact Q.
Qed.

(** INIT-28. With these two constants SELU gives a standard normal number the mean 0 ... *)
Theorem INIT_28_mean : mean (normal 1) (selu λ₀ α₀) 0.
Proof.
  refine (mean_as _ _ _ _ _ (selu_mean λ₀ α₀) (fun _ => eq_refl) _). rewrite <- α₀_inverse.
  destruct constants as (_ & _ & C & _). assert (H := half_positive). field. lra.
Qed.

(** ... and the variance 1. *)
Theorem INIT_28_variance : variance (normal 1) (selu λ₀ α₀) 1.
Proof.
  assert (V := variance_from_moments _ _ _ _ INIT_28_mean (selu_moment λ₀ α₀)).
  replace (λ₀ ^ 2 * ((1 + α₀ ^ 2 * K) / 2) - 0 ^ 2) with 1 in V; [exact V|].
  destruct constants as (_ & P & C & _). unfold λ₀. assert (0 < (1 + α₀ ^ 2 * K) / 2) by nra.
  rewrite pow_inv, pow2_sqrt by lra. field. nra.
Qed.

Lemma INIT_27_alpha_met : ltac:(hypotheses (INIT_27_alpha λ₀ α₀)).
Proof.
  split; [apply INIT_28_mean|]. destruct INIT_28_variance as (m & M & V). assert (m = 0) by exact (mean_unique _ _ _ _ M INIT_28_mean).
  subst m. refine (mean_as _ _ _ _ _ V _ eq_refl). intros. ring.
Qed.
Lemma INIT_27_lambda_met : ltac:(hypotheses (INIT_27_lambda λ₀ α₀)).
Proof. exact INIT_27_alpha_met. Qed.

(** An ELU of slope 1 with a factor for its second moment; no activation at all. *)
Lemma slope_1 : mean (normal 1) (fun z => selu (/ sqrt ((1 + 1 ^ 2 * K) / 2)) 1 z ^ 2) 1.
Proof.
  refine (mean_as _ _ _ _ _ (selu_moment _ 1) (fun _ => eq_refl) _). destruct constants as (_ & P & _).
  rewrite pow_inv, pow2_sqrt by nra. field. nra.
Qed.
Lemma not_1 : / 1 <> sqrt (PI / 2) * (1 - exp (1 / 2) * erfc (1 / sqrt 2)).
Proof. fold half. rewrite <- α₀_inverse. destruct constants as (_ & _ & C & _). intros E. apply inv_same in E. lra. Qed.
Lemma none : mean (normal 1) (selu 0 1) 0.
Proof. refine (mean_as _ _ _ _ _ (mean_const _ 0) _ eq_refl). intros. unfold selu. ring. Qed.
Lemma INIT_27_alpha_needs_1 : ~ ltac:(without 1 INIT_27_alpha).
Proof. intros F. exact (not_1 (F _ _ slope_1)). Qed.
Lemma INIT_27_alpha_needs_2 : ~ ltac:(without 2 INIT_27_alpha).
Proof. intros F. exact (not_1 (F _ _ none)). Qed.
Lemma INIT_27_lambda_needs_1 : ~ ltac:(without 1 INIT_27_lambda).
Proof.
  intros F. assert (E := F _ _ slope_1). fold K α₀ in E. destruct constants as (_ & P & C & _).
  assert (0 < (1 + 1 ^ 2 * K) / 2) by lra. rewrite pow_inv, pow2_sqrt, Rinv_inv in E by lra.
  assert (1 < α₀ ^ 2) by nra. assert (K * (α₀ ^ 2 - 1) = 0) by lra. assert (0 < K * (α₀ ^ 2 - 1)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
Lemma INIT_27_lambda_needs_2 : ~ ltac:(without 2 INIT_27_lambda).
Proof.
  intros F. assert (E := F _ _ none). fold K α₀ in E. destruct constants as (_ & P & C & _).
  replace (0 ^ 2) with 0 in E by ring. rewrite Rinv_0 in E. assert (0 < α₀ ^ 2 * K) by (apply Rmult_lt_0_compat; nra). lra.
Qed.

(** for every positive [q], what a layer makes of the second moment [q] *)
Definition second_moment_map (M : R -> R) := forall q : posreal, mean (normal 1) (fun z => selu λ₀ α₀ (sqrt q * z) ^ 2) (M q).

Lemma erf_derive : forall x, is_derive erf x (2 / sqrt PI * exp (- x ^ 2)).
Proof.
  intros x. apply (is_derive_scal (fun x => RInt (fun t => exp (- t ^ 2)) 0 x)). assert (C : forall y, continuous (fun t => exp (- t ^ 2)) y) by
    (apply everywhere_continuous; intros; auto_derive; trivial).
  apply (is_derive_RInt (V := R_NormedModule) (fun t => exp (- t ^ 2)) _ 0 x); [|apply C]. exists (mkposreal 1 Rlt_0_1). intros y _.
  exact (RInt_correct (V := R_CompleteNormedModule) _ 0 y (integrable _ _ _ C)).
Qed.

(** BOOK-58. A small deviation of the second moment from 1 is multiplied, in each layer, by ... *)
Theorem BOOK_58_slope : forall M,
  second_moment_map M ->
  is_derive M 1 (λ₀ ^ 2 * (1 + α₀ ^ 2 * (2 * exp 2 * erfc (sqrt 2) - exp (1 / 2) * erfc (1 / sqrt 2))) / 2).
Proof.
  intros M H. set (f := fun q => λ₀ ^ 2 * ((q + α₀ ^ 2 * (exp (2 * q) * erfc (sqrt 2 * sqrt q) - 2 * exp (q / 2) * erfc (sqrt q / sqrt 2) + 1)) / 2)).
  apply (is_derive_ext_loc f).
  - exists (mkposreal 1 Rlt_0_1). intros q B. assert (Q : 0 < q) by (change (Rabs (q - 1) < 1) in B; apply Rabs_lt_between in B; lra).
    assert (S := sqrt_lt_R0 q Q). symmetry. apply (mean_unique _ _ _ _ (H (mkposreal q Q))).
    refine (mean_as _ _ _ _ _ (mean_scale _ (λ₀ ^ 2) _ _ (elu_second_moment α₀ (mkposreal _ S))) _ _); cbn [pos]; [intros; unfold selu; ring|].
    rewrite pow2_sqrt by lra. reflexivity.
  - assert (P := sqrt_lt_R0 2 ltac:(lra)). assert (P2 := sqrt_lt_R0 PI PI_RGT_0). unfold f, erfc.
    auto_derive; [rewrite ?sqrt_1; repeat split; try lra; eexists; apply erf_derive|].
    replace (Derive (fun x => erf x)) with (fun x => 2 / sqrt PI * exp (- x ^ 2))
      by (apply FunctionalExtensionality.functional_extensionality; intros x; symmetry; apply is_derive_unique, erf_derive).
    rewrite sqrt_1. set (q := sqrt 2) in *. set (r := sqrt PI) in *. assert (Q : q * q = 2) by (apply sqrt_sqrt; lra).
    replace (- (q * 1) ^ 2) with (- (2)) by (rewrite <- Q; ring). replace (- (1 * / q) ^ 2) with (- (1 / 2)) by (rewrite <- Q; field; lra).
    replace (2 * 1) with 2 by ring. replace (1 * / 2) with (1 / 2) by reflexivity. replace (q * 1) with q by ring.
    replace (1 * / q) with (1 / q) by reflexivity. rewrite !exp_Ropp. assert (E2 := exp_pos 2). assert (E1 := exp_pos (1 / 2)).
    set (e2 := exp 2) in *. set (e1 := exp (1 / 2)) in *.
    transitivity (λ₀ ^ 2 * (1 + α₀ ^ 2 * (2 * e2 * (1 - erf q) - e1 * (1 - erf (1 / q)))) / 2 + λ₀ ^ 2 * α₀ ^ 2 / 2 * (2 / (q * r) - q / r)).
    + field. lra.
    + replace (2 / (q * r)) with (q / r) by (rewrite <- Q; field; lra). field. lra.
Qed.

(** ... which is less than 1: the fixed point attracts. *)
Theorem BOOK_58_attracting : 0 < λ₀ ^ 2 * (1 + α₀ ^ 2 * (2 * exp 2 * erfc (sqrt 2) - exp (1 / 2) * erfc (1 / sqrt 2))) / 2 < 1.
Proof.
  destruct constants as (_ & P & C & L & E), A₀B₀ as ((A1 & A2) & (B1 & B2) & H1 & H2). assert (H0 := half_positive).
  replace (2 * exp 2 * erfc (sqrt 2)) with (2 * A₀) by (unfold A₀; ring). fold B₀. assert (K1 : K = A₀ - 2 * B₀ + 1) by (unfold K, A₀, B₀; ring).
  assert (X : 0 < 2 * A₀ - B₀) by (apply (Rmult_lt_reg_r half); lra). assert (Z : 0 < α₀ ^ 2) by nra.
  assert (W : A₀ + B₀ < 1) by (apply (Rmult_lt_reg_r half); lra). assert (Y : 2 * A₀ - B₀ < K) by lra.
  split; [apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; nra|].
  enough (λ₀ ^ 2 * (1 + α₀ ^ 2 * (2 * A₀ - B₀)) < 2) by lra.
  apply Rlt_le_trans with (λ₀ ^ 2 * (1 + α₀ ^ 2 * K)); [|lra]. apply Rmult_lt_compat_l; [exact L | apply Rplus_lt_compat_l, Rmult_lt_compat_l; lra].
Qed.

Lemma BOOK_58_slope_met : ltac:(hypotheses (BOOK_58_slope
  (fun q => λ₀ ^ 2 * ((sqrt q ^ 2 + α₀ ^ 2 * (exp (2 * sqrt q ^ 2) * erfc (sqrt 2 * sqrt q) - 2 * exp (sqrt q ^ 2 / 2) * erfc (sqrt q / sqrt 2) + 1)) / 2)))).
Proof.
  intros [q Q]. refine (mean_as _ _ _ _ _ (mean_scale _ (λ₀ ^ 2) _ _ (elu_second_moment α₀ (mkposreal _ (sqrt_lt_R0 q Q)))) _ eq_refl).
  intros. unfold selu. cbn [pos]. ring.
Qed.

(** A layer that forgets what it is given. *)
Lemma BOOK_58_slope_needs_1 : ~ ltac:(without 1 BOOK_58_slope).
Proof.
  intros F. assert (D := F (fun _ => 0)). apply is_derive_unique in D. rewrite Derive_const in D. assert (A := BOOK_58_attracting). lra.
Qed.
