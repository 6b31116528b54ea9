(** SELU for standard normal numbers, from the density: INIT-11, INIT-21 (elu), INIT-27, INIT-28, INIT-32, BOOK-58. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
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

Lemma erfc_bounds : 0.3173 < erfc (1 / sqrt 2) < 0.3174 /\ 0.0455 < erfc (sqrt 2) < 0.0456.
Proof. unfold erfc, erf. repeat split; integral. Qed.

Lemma constants : 0 < 1 - exp (1 / 2) * erfc (1 / sqrt 2) /\ 0 < K /\ 1.6 < α₀ < 1.7 /\ 1.1 < λ₀ ^ 2 < 1.12.
Proof.
  destruct erfc_bounds as [A B]. assert (C : 1.673 < α₀ < 1.674).
  { unfold α₀. generalize dependent (erfc (1 / sqrt 2)). intros e. clear B. intros. split; interval with (i_prec 60). }
  assert (D : 0.289 < K < 0.291).
  { unfold K. generalize dependent (erfc (1 / sqrt 2)). intros e E. generalize dependent (erfc (sqrt 2)). intros f. clear C. split; interval. }
  assert (E : (1 + α₀ ^ 2 * K) / 2 > 0) by nra. assert (F : λ₀ ^ 2 = / ((1 + α₀ ^ 2 * K) / 2)).
  { unfold λ₀. rewrite pow_inv, pow2_sqrt by lra. reflexivity. }
  repeat split; try lra.
  - generalize dependent (erfc (1 / sqrt 2)). intros e E'. intros. interval.
  - rewrite F. generalize dependent α₀. generalize dependent K. intros. interval.
  - rewrite F. generalize dependent α₀. generalize dependent K. intros. interval.
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
  destruct constants as (D & _). assert (P := PI_RGT_0). unfold α₀, half. assert (0 < sqrt (2 / PI)) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; lra).
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
  destruct constants as (_ & _ & C & D), erfc_bounds as (A & B). generalize dependent (λ₀ ^ 2). generalize dependent α₀.
  generalize dependent (erfc (sqrt 2)). generalize dependent (erfc (1 / sqrt 2)). intros. split; interval.
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
