(** The normal law, from its density. Its mass is Gauss's integral, which is proved here; its moments are those of LOSS-14. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Proofs Require Import Law SquaredLength.
Open Scope R_scope.

(** Writes equal exponents in one way. *)
Ltac exps := repeat match goal with |- context [exp ?a] => match goal with |- context [exp ?b] =>
  tryif constr_eq a b then fail else replace (exp b) with (exp a) by (f_equal; field) end end.

Definition bell (x : R) : R := exp (- x ^ 2 / 2).

(** The integral of the bell from 0. *)
Definition part (t : R) : R := RInt bell 0 t.

(** ** Gauss's integral *)

Lemma everywhere_continuous : forall f, (forall x : R, ex_derive (f : R -> R) x) -> forall x, continuous f x.
Proof. intros f H x. apply (ex_derive_continuous (f : R -> R)), H. Qed.

Lemma integrable : forall f a b, (forall x : R, continuous (f : R -> R) x) -> ex_RInt f a b.
Proof. intros f a b H. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). auto. Qed.

Lemma bell_continuous : forall x, continuous bell x.
Proof. apply everywhere_continuous. intros. unfold bell. auto_derive. trivial. Qed.

Lemma part_derive : forall t, is_derive part t (bell t).
Proof.
  intros t. apply (is_derive_RInt (V := R_NormedModule) bell part 0 t); [|apply bell_continuous].
  exists (mkposreal 1 Rlt_0_1). intros y _.
  exact (RInt_correct (V := R_CompleteNormedModule) bell 0 y (integrable _ _ _ bell_continuous)).
Qed.

Lemma part_0 : part 0 = 0.
Proof. exact (RInt_point (V := R_CompleteNormedModule) 0 bell). Qed.

(** What the square of [part] lacks. *)
Definition lack (t : R) : R := RInt (fun v => exp (- t ^ 2 * (1 + v ^ 2) / 2) / (1 + v ^ 2)) 0 1.

Lemma one_plus_square : forall v, 0 < 1 + v ^ 2.
Proof. intros. assert (H := pow2_ge_0 v). lra. Qed.

Lemma lack_integrand_continuous : forall t v, continuous (fun v => exp (- t ^ 2 * (1 + v ^ 2) / 2) / (1 + v ^ 2)) v.
Proof. intros t. apply everywhere_continuous. intros v. auto_derive. assert (H := one_plus_square v). lra. Qed.

Lemma lack_derive : forall t, is_derive lack t (- bell t * part t).
Proof.
  intros t. set (f := fun u v => exp (- u ^ 2 * (1 + v ^ 2) / 2) / (1 + v ^ 2)).
  assert (D : forall u v, is_derive (fun u => f u v) u (- u * exp (- u ^ 2 * (1 + v ^ 2) / 2))).
  { intros u v. unfold f. auto_derive; [trivial|]. assert (H := one_plus_square v). exps. field. lra. }
  replace (- bell t * part t) with (RInt (fun v => Derive (fun u => f u v) t) 0 1).
  - apply (is_derive_RInt_param f 0 1 t).
    + exists (mkposreal 1 Rlt_0_1). intros u _ v _. eexists. apply D.
    + intros v _. apply (continuity_2d_pt_ext (fun u v => - u * exp (- u ^ 2 * (1 + v ^ 2) / 2))).
      { intros. symmetry. apply is_derive_unique, D. }
      apply continuity_2d_pt_mult; [apply continuity_2d_pt_opp, continuity_2d_pt_id1|].
      apply (continuity_1d_2d_pt_comp exp); [apply derivable_continuous_pt, derivable_pt_exp|].
      apply continuity_2d_pt_mult; [|apply continuity_2d_pt_const].
      apply continuity_2d_pt_mult;
        [apply continuity_2d_pt_opp | apply continuity_2d_pt_plus; [apply continuity_2d_pt_const|]];
        apply continuity_2d_pt_mult; try apply continuity_2d_pt_mult;
        first [apply continuity_2d_pt_id1 | apply continuity_2d_pt_id2 | apply continuity_2d_pt_const].
    + exists (mkposreal 1 Rlt_0_1). intros u _. apply integrable. apply lack_integrand_continuous.
  - rewrite (RInt_ext _ (fun v => scal (- bell t) (scal t (bell (t * v + 0))))).
    + assert (G : ex_RInt (fun v => scal t (bell (t * v + 0))) 0 1).
      { apply integrable, everywhere_continuous. intros y. unfold bell, scal; cbn; unfold mult; cbn. auto_derive. trivial. }
      etransitivity; [exact (RInt_scal (V := R_CompleteNormedModule) (fun v => scal t (bell (t * v + 0))) 0 1 (- bell t) G)|].
      etransitivity; [exact (f_equal (fun z => - bell t * z)
        (RInt_comp_lin (V := R_CompleteNormedModule) bell t 0 0 1 (integrable _ _ _ bell_continuous)))|].
      unfold part. do 2 f_equal; ring.
    + intros v _. etransitivity; [apply is_derive_unique, D|]. unfold bell.
      change (- t * exp (- t ^ 2 * (1 + v ^ 2) / 2) = - exp (- t ^ 2 / 2) * (t * exp (- (t * v + 0) ^ 2 / 2))).
      replace (- t * exp (- t ^ 2 * (1 + v ^ 2) / 2)) with (- t * (exp (- t ^ 2 / 2) * exp (- (t * v + 0) ^ 2 / 2))); [ring|].
      rewrite <- exp_plus. f_equal. f_equal. field.
Qed.

Lemma part_square : forall t, 0 < t -> part t ^ 2 = PI / 2 - 2 * lack t.
Proof.
  intros t T.
  assert (C : part t ^ 2 + 2 * lack t = part 0 ^ 2 + 2 * lack 0).
  { symmetry. apply (eq_is_derive (fun t => part t ^ 2 + 2 * lack t)); [|exact T]. intros u _.
    auto_derive; [repeat split; eexists; [apply part_derive | apply lack_derive]|].
    replace (Derive (fun x => part x) u) with (bell u) by (symmetry; apply is_derive_unique, part_derive).
    replace (Derive (fun x => lack x) u) with (- bell u * part u) by (symmetry; apply is_derive_unique, lack_derive).
    unfold zero; cbn. ring. }
  assert (Z : lack 0 = PI / 4).
  { apply is_RInt_unique.
    assert (A : atan 1 - atan 0 = PI / 4) by (rewrite atan_1, atan_0; lra). rewrite <- A.
    apply (is_RInt_ext (fun v => / (1 + v ^ 2))).
    { intros v _. replace (- 0 ^ 2 * (1 + v ^ 2) / 2) with 0 by field. rewrite exp_0. change (/ (1 + v ^ 2) = 1 * / (1 + v ^ 2)). ring. }
    apply (is_RInt_derive atan); intros v _.
    - auto_derive; [trivial|]. unfold Rsqr. assert (H := one_plus_square v). field. lra.
    - apply everywhere_continuous. intros u. auto_derive. assert (H := one_plus_square u). lra. }
  rewrite part_0, Z in C. lra.
Qed.

Lemma lack_bounds : forall t, 0 <= lack t <= bell t.
Proof.
  intros t. assert (I := integrable _ 0 1 (lack_integrand_continuous t)). split.
  - apply RInt_ge_0; [lra | exact I |]. intros v _. apply Rlt_le, Rdiv_lt_0_compat; [apply exp_pos | apply one_plus_square].
  - replace (bell t) with (RInt (fun _ => bell t) 0 1) by (rewrite RInt_const; unfold scal; cbn; unfold mult; cbn; ring).
    apply RInt_le; [lra | exact I | apply ex_RInt_const |]. intros v _. unfold bell.
    assert (V := pow2_ge_0 v). assert (U := pow2_ge_0 t).
    apply Rle_trans with (exp (- t ^ 2 * (1 + v ^ 2) / 2) / 1).
    + apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | apply Rinv_le_contravar; lra].
    + unfold Rdiv at 1. rewrite Rinv_1, Rmult_1_r. destruct (Req_dec (t ^ 2 * v ^ 2) 0) as [E|E]; [right; f_equal; nra|]. left. apply exp_increasing. nra.
Qed.

(** A polynomial in front of the bell does not keep it from falling to 0. *)
Lemma bell_below : forall t, 0 < t -> t ^ 3 * bell t <= 16 / t.
Proof.
  intros t T. unfold bell. replace (- t ^ 2 / 2) with (- (t ^ 2 / 4 + t ^ 2 / 4)) by field. rewrite exp_Ropp, exp_plus.
  assert (E := exp_ineq1_le (t ^ 2 / 4)). assert (0 < t ^ 2) by nra. set (e := exp (t ^ 2 / 4)) in *.
  assert (Q : t ^ 2 / 4 * (t ^ 2 / 4) <= e * e) by (apply Rmult_le_compat; lra).
  apply Rmult_le_reg_r with (e * e * t); [apply Rmult_lt_0_compat; nra|].
  replace (t ^ 3 * / (e * e) * (e * e * t)) with (16 * (t ^ 2 / 4 * (t ^ 2 / 4))) by (field; lra).
  replace (16 / t * (e * e * t)) with (16 * (e * e)) by (field; lra). lra.
Qed.

(** A function that is squeezed to 0. *)
Lemma falls_to_0 : forall f c, (forall t, 1 < t -> Rabs (f t) <= c / t) -> is_lim f p_infty 0.
Proof.
  intros f c H. apply (is_lim_le_le_loc (fun t => - (c / t)) (fun t => c / t)).
  - exists 1. intros t T. specialize (H t T). apply Rabs_le_between in H. exact H.
  - replace (Finite 0) with (Rbar_opp (Rbar_mult c (Rbar_inv p_infty))) by (cbn; f_equal; ring).
    apply is_lim_opp, is_lim_scal_l, is_lim_inv; [apply is_lim_id | discriminate].
  - replace (Finite 0) with (Rbar_mult c (Rbar_inv p_infty)) by (cbn; f_equal; ring).
    apply is_lim_scal_l, is_lim_inv; [apply is_lim_id | discriminate].
Qed.

(** Half of the bell's integral. *)
Definition half : R := sqrt (PI / 2).

Lemma part_limit : is_lim part p_infty half.
Proof.
  assert (L : is_lim lack p_infty 0).
  { apply (falls_to_0 _ 16). intros t T. destruct (lack_bounds t) as [A B]. rewrite Rabs_pos_eq by exact A.
    apply Rle_trans with (t ^ 3 * bell t); [|apply bell_below; lra]. assert (1 <= t ^ 3) by nra. nra. }
  apply (is_lim_ext_loc (fun t => sqrt (PI / 2 - 2 * lack t))).
  - exists 1. intros t T. rewrite <- part_square by lra. apply sqrt_pow2.
    apply RInt_ge_0; [lra | apply integrable, bell_continuous | intros; apply Rlt_le, exp_pos].
  - apply (is_lim_comp_continuous (fun t => PI / 2 - 2 * lack t) sqrt p_infty (PI / 2)).
    + replace (Finite (PI / 2)) with (Finite (PI / 2 - 2 * 0)) by (f_equal; ring).
      apply is_lim_minus'; [apply is_lim_const | apply (is_lim_scal_l _ 2 p_infty 0), L].
    + apply continuity_pt_filterlim, continuity_pt_sqrt. assert (P := PI_RGT_0). lra.
Qed.

(** ** The law *)

(** An integral over the whole line, and over the half-lines from and to 0. *)
Notation line f l := (is_RInt_gen (f : R -> R) (Rbar_locally m_infty) (Rbar_locally p_infty) (l : R)).
Notation left_half f l := (is_RInt_gen (f : R -> R) (Rbar_locally m_infty) (at_point 0) (l : R)).
Notation right_half f l := (is_RInt_gen (f : R -> R) (at_point 0) (Rbar_locally p_infty) (l : R)).

(** From an antiderivative and its two limits. *)
Lemma right_from : forall (F f : R -> R) (l : R), (forall x, is_derive F x (f x)) -> (forall x, continuous f x) ->
  is_lim F p_infty l -> right_half f (l - F 0).
Proof.
  intros F f l D C H. apply (is_RInt_gen_ext (Derive F)).
  { apply filter_forall. intros ab x _. apply is_derive_unique, D. }
  apply is_RInt_gen_Derive; [ | | | exact H].
  - apply filter_forall. intros ab x _. eexists. apply D.
  - apply filter_forall. intros ab x _. apply (continuous_ext f); [intros y; symmetry; apply is_derive_unique, D | apply C].
  - intros P HP. exact (locally_singleton (T := R_UniformSpace) (F 0) P HP).
Qed.

Lemma left_from : forall (F f : R -> R) (l : R), (forall x, is_derive F x (f x)) -> (forall x, continuous f x) ->
  is_lim F m_infty l -> left_half f (F 0 - l).
Proof.
  intros F f l D C H. apply (is_RInt_gen_ext (Derive F)).
  { apply filter_forall. intros ab x _. apply is_derive_unique, D. }
  apply is_RInt_gen_Derive; [ | | exact H | ].
  - apply filter_forall. intros ab x _. eexists. apply D.
  - apply filter_forall. intros ab x _. apply (continuous_ext f); [intros y; symmetry; apply is_derive_unique, D | apply C].
  - intros P HP. exact (locally_singleton (T := R_UniformSpace) (F 0) P HP).
Qed.

Lemma line_from_halves : forall f a b, left_half f a -> right_half f b -> line f (a + b).
Proof. intros f a b A B. exact (is_RInt_gen_Chasles f 0 a b A B). Qed.

Definition density (x : R) : R := bell x / (2 * half).

Lemma half_positive : 0 < half.
Proof. apply sqrt_lt_R0. assert (P := PI_RGT_0). lra. Qed.

Lemma part_odd : forall t, part (- t) = - part t.
Proof.
  intros t. enough (E : - part (- t) = part t) by lra. symmetry. apply is_RInt_unique.
  apply (is_RInt_ext (fun y => opp (opp (bell (- y))))).
  { intros y _. rewrite opp_opp. unfold bell. f_equal. field. }
  apply (is_RInt_opp (V := R_NormedModule) (fun y => opp (bell (- y))) 0 t), (is_RInt_comp_opp (V := R_NormedModule) bell).
  rewrite Ropp_0. exact (RInt_correct (V := R_CompleteNormedModule) bell 0 (- t) (integrable _ _ _ bell_continuous)).
Qed.

(** An even or odd function has its limit on the left from that on the right. *)
Lemma limit_left : forall f l, is_lim (fun t => f (- t)) p_infty l -> is_lim f m_infty l.
Proof.
  intros f l H. apply (is_lim_ext (fun t => f (- - t))); [intros; f_equal; ring|].
  apply (is_lim_comp (fun t => f (- t)) Ropp m_infty l p_infty); [exact H | |].
  - replace p_infty with (Rbar_opp m_infty) by reflexivity. apply is_lim_opp, is_lim_id.
  - exists 0. discriminate.
Qed.

Lemma part_left : is_lim part m_infty (- half).
Proof.
  apply limit_left, (is_lim_ext (fun t => - part t)); [intros; symmetry; apply part_odd|].
  apply (is_lim_opp part p_infty half), part_limit.
Qed.

(** The normal law of standard deviation [σ]: what [f (σ z)] is on average under the density. *)
Definition normal (σ : R) : law R.
Proof.
  refine (Law _ (fun f m => line (fun z => f (σ * z) * density z) m) _ _ _ _ _).
  - intros f a b A B. rewrite <- (is_RInt_gen_unique _ _ A). exact (is_RInt_gen_unique _ _ B).
  - intros c. assert (H := half_positive).
    replace c with (scal (c / (2 * half)) (half - - half)) by (unfold scal; cbn; unfold mult; cbn; field; lra).
    apply (is_RInt_gen_ext (fun z => scal (c / (2 * half)) (bell z))).
    { apply filter_forall. intros ab z _. unfold scal, density; cbn; unfold mult; cbn. field. lra. }
    apply (is_RInt_gen_scal (V := R_NormedModule) bell). replace (half - - half) with ((part 0 - - half) + (half - part 0)) by ring.
    apply line_from_halves; [apply left_from | apply right_from];
      [exact part_derive | exact bell_continuous | exact part_left | exact part_derive | exact bell_continuous | exact part_limit].
  - intros f g a b A B. apply (is_RInt_gen_ext (fun z => plus (f (σ * z) * density z) (g (σ * z) * density z))).
    { apply filter_forall. intros ab z _. unfold plus; cbn. ring. }
    exact (is_RInt_gen_plus _ _ a b A B).
  - intros c f a A. apply (is_RInt_gen_ext (fun z => scal c (f (σ * z) * density z))).
    { apply filter_forall. intros ab z _. unfold scal; cbn; unfold mult; cbn. ring. }
    exact (is_RInt_gen_scal _ c a A).
  - intros f a P A. apply (Rle_trans _ (Rabs a)); [apply Rabs_pos|].
    refine (RInt_gen_norm (V := R_CompleteNormedModule) _ _ _ _ _ _ A A).
    + exists (fun x => x < 0) (fun x => 0 < x); [exists 0; auto | exists 0; auto | cbn; intros; lra].
    + apply filter_forall. intros ab z _. change (Rabs (f (σ * z) * density z) <= f (σ * z) * density z).
      rewrite Rabs_pos_eq; [lra|]. assert (H := half_positive). apply Rmult_le_pos; [apply P|].
      apply Rlt_le, Rdiv_lt_0_compat; [apply exp_pos | lra].
Defined.

(** A mean from an antiderivative of [f] times the bell, and its limits. *)
Lemma normal_mean : forall σ (F f : R -> R) (l r : R),
  (forall z, is_derive F z (f (σ * z) * bell z)) -> (forall z, continuous (fun z => f (σ * z) * bell z) z) ->
  is_lim F m_infty l -> is_lim F p_infty r -> mean (normal σ) f ((r - l) / (2 * half)).
Proof.
  intros σ F f l r D C A B. assert (H := half_positive).
  change (line (fun z => f (σ * z) * density z) ((r - l) / (2 * half))).
  apply (is_RInt_gen_ext (fun z => scal (/ (2 * half)) (f (σ * z) * bell z))).
  { apply filter_forall. intros ab z _. unfold scal, density; cbn; unfold mult; cbn. field. lra. }
  replace ((r - l) / (2 * half)) with (scal (/ (2 * half)) ((F 0 - l) + (r - F 0))) by (unfold scal; cbn; unfold mult; cbn; field; lra).
  apply (is_RInt_gen_scal (V := R_NormedModule)). apply line_from_halves; [apply left_from | apply right_from]; assumption.
Qed.

(** ** Its moments *)

Lemma monomial_falls : forall n, (n <= 3)%nat -> is_lim (fun t => t ^ n * bell t) p_infty 0.
Proof.
  intros n N. apply (falls_to_0 _ 16). intros t T. rewrite Rabs_pos_eq.
  - apply Rle_trans with (t ^ 3 * bell t); [|apply bell_below; lra].
    apply Rmult_le_compat_r; [apply Rlt_le, exp_pos | apply Rle_pow; [lra | exact N]].
  - apply Rmult_le_pos; [apply pow_le; lra | apply Rlt_le, exp_pos].
Qed.

Lemma bell_even : forall t, bell (- t) = bell t.
Proof. intros. unfold bell. f_equal. field. Qed.

Ltac bell_ready := apply everywhere_continuous; intros; unfold bell; auto_derive; trivial.

Lemma rise_left : forall n, (n <= 3)%nat -> is_lim (fun t => t ^ n * bell t) m_infty 0.
Proof.
  intros n N. apply limit_left, (is_lim_ext (fun t => (-1) ^ n * (t ^ n * bell t))).
  - intros t. rewrite bell_even. replace (- t) with (-1 * t) by ring. rewrite Rpow_mult_distr. ring.
  - replace (Finite 0) with (Rbar_mult ((-1) ^ n) 0) by (cbn; f_equal; ring). apply is_lim_scal_l, monomial_falls, N.
Qed.

(** The moments come from [a part z + Σ c z^n bell z]. *)
Definition antiderivative (a : R) (c : nat -> R) (z : R) : R := a * part z + Σ n < 4, c n * (z ^ n * bell z).

Lemma antiderivative_limit : forall a c, is_lim (antiderivative a c) p_infty (a * half) /\ is_lim (antiderivative a c) m_infty (a * - half).
Proof.
  intros a c. assert (S : forall x, (forall n, (n <= 3)%nat -> is_lim (fun t => t ^ n * bell t) x 0) ->
    is_lim (fun z => Σ n < 4, c n * (z ^ n * bell z)) x 0).
  { intros x H. cbn [total]. replace (Finite 0) with (Finite (0 + c 0%nat * 0 + c 1%nat * 0 + c 2%nat * 0 + c 3%nat * 0)) by (f_equal; ring).
    do 4 (apply is_lim_plus'; [|refine (is_lim_scal_l _ _ x 0 (H _ _)); lia]). apply is_lim_const. }
  split; [replace (a * half) with (a * half + 0) by ring | replace (a * - half) with (a * - half + 0) by ring];
    (apply is_lim_plus'; [|apply S; (apply monomial_falls || apply rise_left)]).
  - exact (is_lim_scal_l part a p_infty half part_limit).
  - exact (is_lim_scal_l part a m_infty (- half) part_left).
Qed.

Lemma normal_moment : forall σ f a c, (forall z, is_derive (antiderivative a c) z (f (σ * z) * bell z)) ->
  (forall z, continuous (fun z => f (σ * z) * bell z) z) -> mean (normal σ) f a.
Proof.
  intros σ f a c D C. assert (H := half_positive). destruct (antiderivative_limit a c) as [R L].
  replace a with ((a * half - a * - half) / (2 * half)) by (field; lra). exact (normal_mean σ _ f _ _ D C L R).
Qed.

Ltac differentiate := intros z; unfold antiderivative; cbn [total]; unfold bell; auto_derive;
  [repeat split; eexists; apply part_derive
  | replace (Derive (fun x => part x) z) with (bell z) by (symmetry; apply is_derive_unique, part_derive);
    unfold bell; exps; field].

Lemma normal_mean_0 : forall σ, mean (normal σ) (fun x => x) 0.
Proof.
  intros σ. apply (normal_moment σ _ 0 (fun n => match n with O => - σ | _ => 0 end)); [differentiate | bell_ready].
Qed.

Lemma normal_second_moment : forall σ, mean (normal σ) (fun x => x ^ 2) (σ ^ 2).
Proof.
  intros σ. apply (normal_moment σ _ (σ ^ 2) (fun n => match n with 1%nat => - σ ^ 2 | _ => 0 end)); [differentiate | bell_ready].
Qed.

Lemma normal_fourth_moment : forall σ, mean (normal σ) (fun x => x ^ 4) (3 * σ ^ 4).
Proof.
  intros σ. apply (normal_moment σ _ (3 * σ ^ 4) (fun n => match n with 1%nat => - 3 * σ ^ 4 | 3%nat => - σ ^ 4 | _ => 0 end)); [differentiate | bell_ready].
Qed.

(** LOSS-14. For [d] independent normal entries of standard deviation σ the squared length has the variance 2dσ⁴. *)
Theorem LOSS_14 : forall d σ, variance (copies d (normal σ)) (fun w => Σ i < d, w i ^ 2) (2 * INR d * σ ^ 4).
Proof.
  intros d σ. replace (2 * INR d * σ ^ 4) with (INR d * (3 - 1) * σ ^ 4) by ring. apply (LOSS_17 _ _ d entry σ 3).
  - apply copies_independent.
  - intros i Hi. apply (copies_entry _ (fun x => x ^ 2)); [exact Hi | apply normal_second_moment].
  - intros i Hi. apply (copies_entry _ (fun x => x ^ 4)); [exact Hi | apply normal_fourth_moment].
Qed.

Lemma part_shift_limits : forall c, is_lim (fun z => part (z - c)) p_infty half /\ is_lim (fun z => part (z - c)) m_infty (- half).
Proof.
  intros c. split.
  - apply (is_lim_comp part (fun z => z - c) p_infty half p_infty); [apply part_limit | | exists 0; discriminate].
    apply (is_lim_minus (fun z => z) (fun _ => c) p_infty p_infty c); [apply is_lim_id | apply is_lim_const | reflexivity].
  - apply (is_lim_comp part (fun z => z - c) m_infty (- half) m_infty); [apply part_left | | exists 0; discriminate].
    apply (is_lim_minus (fun z => z) (fun _ => c) m_infty m_infty c); [apply is_lim_id | apply is_lim_const | reflexivity].
Qed.

(** [exp (s z)] times the bell is a bell that is moved. *)
Lemma tilt_derive : forall s z, is_derive (fun z => exp (s ^ 2 / 2) * part (z - s)) z (exp (s * z) * bell z).
Proof.
  intros s z. auto_derive; [eexists; apply part_derive|].
  replace (Derive (fun x => part x) (z + - s)) with (bell (z - s)) by (symmetry; apply is_derive_unique, part_derive).
  unfold bell. rewrite Rmult_1_l, <- !exp_plus. f_equal. field.
Qed.

(** The mean of [exp (θ x)]. *)
Lemma normal_exponential : forall σ θ, mean (normal σ) (fun x => exp (θ * x)) (exp (θ ^ 2 * σ ^ 2 / 2)).
Proof.
  intros σ θ. assert (H := half_positive). destruct (part_shift_limits (θ * σ)) as [R L].
  replace (exp (θ ^ 2 * σ ^ 2 / 2)) with ((exp ((θ * σ) ^ 2 / 2) * half - exp ((θ * σ) ^ 2 / 2) * - half) / (2 * half))
    by (replace ((θ * σ) ^ 2) with (θ ^ 2 * σ ^ 2) by ring; field; lra).
  apply (normal_mean σ (fun z => exp ((θ * σ) ^ 2 / 2) * part (z - θ * σ))).
  - intros z. replace (θ * (σ * z)) with (θ * σ * z) by ring. apply tilt_derive.
  - bell_ready.
  - exact (is_lim_scal_l _ _ m_infty (- half) L).
  - exact (is_lim_scal_l _ _ p_infty half R).
Qed.

(** LOSS-36 (others), LOSS-33 (others). Another token's term [exp (c·w)], with a state [c] of length √d and normal entries: its
    mean is [exp (dσ²/2)]. *)
Theorem LOSS_33_others : forall d σ c,
  (Σ i < d, c i ^ 2) = INR d ->
  mean (copies d (normal σ)) (fun w => exp (Σ i < d, c i * w i)) (exp (INR d * σ ^ 2 / 2)).
Proof.
  intros d σ c E. rewrite <- E. clear E. revert c.
  enough (H : forall c x, mean (copies d (normal σ)) (fun w => x * exp (Σ i < d, c i * w i)) (x * exp ((Σ i < d, c i ^ 2) * σ ^ 2 / 2))).
  { intros c. refine (mean_as _ _ _ _ _ (H c 1) _ _); intros; ring. }
  induction d; intros c x.
  - cbn. replace (0 * (σ * (σ * 1)) / 2) with 0 by field. ring.
  - exists (fun y => x * exp (c O * y) * exp ((Σ i < d, c (S i) ^ 2) * σ ^ 2 / 2)). split.
    + intros y. refine (mean_as _ _ _ _ _ (IHd (fun i => c (S i)) (x * exp (c O * y))) _ eq_refl). intros w.
      cbn [fst snd]. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal. clear. induction d; cbn in *; [ring|]. rewrite IHd. ring.
    + refine (mean_as _ _ _ _ _ (mean_scale _ (x * exp ((Σ i < d, c (S i) ^ 2) * σ ^ 2 / 2)) _ _ (normal_exponential σ (c O))) _ _).
      * intros. ring.
      * rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal.
        replace (Σ i < S d, c i ^ 2) with (c O ^ 2 + Σ i < d, c (S i) ^ 2) by (clear; induction d; cbn in *; [ring | rewrite <- IHd; ring]).
        field.
Qed.

Lemma LOSS_33_others_met : forall (d : nat) (σ : R), ltac:(hypotheses (LOSS_33_others d σ (fun _ => 1))).
Proof. intros. transitivity (Σ i < d, 1); [apply total_same; intros; ring | rewrite total_const; ring]. Qed.

(** A state of zeros. *)
Lemma LOSS_33_others_needs_1 : ~ ltac:(without 1 LOSS_33_others).
Proof.
  intros F. assert (B := F 1%nat 1 (fun _ => 0)). destruct B as (g & G & M). cbn in G.
  assert (E : exp (INR 1 * 1 ^ 2 / 2) = exp 0).
  { apply (mean_unique _ _ _ _ M). refine (mean_as _ _ _ _ _ (mean_const _ (exp 0)) _ eq_refl). intros x. specialize (G x).
    replace (0 + 0 * x) with 0 in G by ring. lra. }
  apply exp_inv in E. cbn in E. lra.
Qed.
