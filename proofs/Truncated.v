(** The truncated normal law, from its density: INIT-06 and INIT-07, for every cut. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Proofs Require Import Law Normal.
Open Scope R_scope.

Definition erf (x : R) : R := 2 / sqrt PI * RInt (fun t => exp (- t ^ 2)) 0 x.
Definition erfc (x : R) : R := 1 - erf x.

Lemma part_is_erf : forall s, part s = half * erf (s / sqrt 2).
Proof.
  intros s. assert (P := sqrt_lt_R0 2 ltac:(lra)). assert (Q := sqrt_lt_R0 PI PI_RGT_0).
  assert (H : half = sqrt PI / sqrt 2) by (unfold half; rewrite sqrt_div; [reflexivity | assert (Z := PI_RGT_0); lra | lra]).
  assert (E := RInt_comp_lin (V := R_CompleteNormedModule) (fun t => exp (- t ^ 2)) (/ sqrt 2) 0 0 s).
  replace (/ sqrt 2 * 0 + 0) with 0 in E by ring. replace (/ sqrt 2 * s + 0) with (s / sqrt 2) in E by (unfold Rdiv; ring).
  assert (G : RInt (fun y => scal (/ sqrt 2) (exp (- (/ sqrt 2 * y + 0) ^ 2))) 0 s = / sqrt 2 * part s).
  { rewrite (RInt_ext _ (fun y => scal (/ sqrt 2) (bell y))).
    - exact (RInt_scal (V := R_CompleteNormedModule) bell 0 s (/ sqrt 2) (integrable _ _ _ bell_continuous)).
    - intros y _. f_equal. unfold bell. f_equal. replace (/ sqrt 2 * y + 0) with (y * / sqrt 2) by ring.
      rewrite Rpow_mult_distr, pow_inv, pow2_sqrt by lra. field. }
  unfold erf. rewrite <- E; [|apply integrable, everywhere_continuous; intros; auto_derive; trivial].
  etransitivity; [|exact (f_equal (fun z => half * (2 / sqrt PI * z)) (eq_sym G))]. rewrite H.
  set (q := sqrt 2) in *. replace 2 with (q * q) by (apply sqrt_sqrt; lra). field. lra.
Qed.

(** The mass that is left between the cuts. *)
Definition mass (c : R) : R := RInt bell (- c) c.

Lemma mass_is_part : forall c, mass c = 2 * part c.
Proof.
  intros c. unfold mass. rewrite <- (RInt_Chasles (V := R_CompleteNormedModule) bell (- c) 0 c) by (apply integrable, bell_continuous).
  rewrite <- (opp_RInt_swap (V := R_CompleteNormedModule) bell) by (apply integrable, bell_continuous).
  change (- part (- c) + part c = 2 * part c). rewrite part_odd. ring.
Qed.

Lemma mass_positive : forall c, 0 < c -> 0 < mass c.
Proof. intros c C. apply RInt_gt_0; [lra | intros; apply exp_pos | intros; apply bell_continuous]. Qed.

(** A standard normal draw that is kept in [[-c, c]]: the density there, over the mass that is left. *)
Definition truncated (c : R) (C : 0 < c) : law R.
Proof.
  assert (M := mass_positive c C).
  refine (Law _ (fun f m => is_RInt (fun z => f z * bell z) (- c) c (m * mass c)) _ _ _ _ _).
  - intros f a b A B. apply (Rmult_eq_reg_r (mass c)); [|lra].
    rewrite <- (is_RInt_unique _ _ _ _ A). exact (is_RInt_unique _ _ _ _ B).
  - intros a. apply (is_RInt_scal bell). exact (RInt_correct (V := R_CompleteNormedModule) bell _ _ (integrable _ _ _ bell_continuous)).
  - intros f g a b A B. apply (is_RInt_ext (fun z => plus (f z * bell z) (g z * bell z))).
    { intros z _. change (f z * bell z + g z * bell z = (f z + g z) * bell z). ring. }
    rewrite Rmult_plus_distr_r. exact (is_RInt_plus _ _ _ _ _ _ A B).
  - intros k f a A. apply (is_RInt_ext (fun z => scal k (f z * bell z))).
    { intros z _. change (k * (f z * bell z) = k * f z * bell z). ring. }
    rewrite Rmult_assoc. exact (is_RInt_scal _ _ _ k _ A).
  - intros f a P A. assert (H : 0 <= a * mass c).
    { apply (is_RInt_ge_0 (fun z => f z * bell z) (- c) c); [lra | exact A|].
      intros z _. apply Rmult_le_pos; [apply P | apply Rlt_le, exp_pos]. }
    apply (Rmult_le_reg_r (mass c)); lra.
Defined.

Lemma truncated_mean : forall c C (F f : R -> R) m, (forall z, is_derive F z (f z * bell z)) ->
  (forall z, continuous (fun z => f z * bell z) z) -> F c - F (- c) = m * mass c -> mean (truncated c C) f m.
Proof.
  intros c C F f m D K E. change (is_RInt (fun z => f z * bell z) (- c) c (m * mass c)). rewrite <- E.
  apply (is_RInt_derive F); auto.
Qed.

(** INIT-07. Cuts that lie evenly about the mean leave the mean as it is. *)
Theorem INIT_07 : forall c (C : 0 < c) μ σ, mean (truncated c C) (fun z => μ + σ * z) μ.
Proof.
  intros c C μ σ. apply (truncated_mean c C (antiderivative μ (fun n => match n with O => - σ | _ => 0 end))); [differentiate | bell_ready |].
  unfold antiderivative. cbn [total]. rewrite bell_even, part_odd, mass_is_part. ring.
Qed.

(** INIT-06. A normal law of standard deviation σ, cut at [c] standard deviations from its mean, keeps the share γ of its variance. *)
Theorem INIT_06 : forall c (C : 0 < c) μ σ,
  variance (truncated c C) (fun z => μ + σ * z) (σ ^ 2 * (1 - 2 * c * exp (- c ^ 2 / 2) / (sqrt (2 * PI) * erf (c / sqrt 2)))).
Proof.
  intros c C μ σ. exists μ. split; [apply INIT_07|]. assert (M := mass_positive c C). assert (H := half_positive).
  assert (Z : sqrt (2 * PI) = 2 * half).
  { unfold half. replace (2 * PI) with (2 * 2 * (PI / 2)) by field. assert (P := PI_RGT_0). rewrite sqrt_mult, sqrt_square by lra. reflexivity. }
  rewrite mass_is_part in M. rewrite Z. replace (2 * half * erf (c / sqrt 2)) with (2 * part c) by (rewrite (part_is_erf c); ring).
  apply (truncated_mean c C (antiderivative (σ ^ 2) (fun n => match n with 1%nat => - σ ^ 2 | _ => 0 end))); [differentiate | bell_ready |].
  unfold antiderivative. cbn [total]. rewrite bell_even, part_odd, mass_is_part. fold (bell c). field. lra.
Qed.
