(** Laws, means, independence: what the other files speak of.

    A law says which random numbers have a mean, and which mean. That a mean exists is part of the sentence
    "[mean L X m]", so that no theorem speaks of an integral that is not there. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
Import ListNotations.
Open Scope R_scope.

(** ** Sums *)

(** The sum of the first [d] terms. *)
Fixpoint total (d : nat) (f : nat -> R) : R :=
  match d with O => 0 | S c => total c f + f c end.

Notation "'Σ' i < d , e" := (total d (fun i => e))
  (at level 41, i name, d at level 9, e at level 41, right associativity).

Lemma total_same : forall d f g, (forall i, (i < d)%nat -> f i = g i) -> total d f = total d g.
Proof. induction d; intros f g H; cbn; [reflexivity|]. rewrite (IHd f g), (H d); auto. Qed.

Lemma total_const : forall d c, total d (fun _ => c) = INR d * c.
Proof. induction d; intros; cbn [total]; [cbn; ring|]. rewrite IHd, S_INR. ring. Qed.

Lemma total_scale : forall d c f, total d (fun i => c * f i) = c * total d f.
Proof. induction d; intros; cbn; [ring|]. rewrite IHd. ring. Qed.

Lemma total_plus : forall d f g, total d (fun i => f i + g i) = total d f + total d g.
Proof. induction d; intros; cbn; [ring|]. rewrite IHd. ring. Qed.

Lemma total_product : forall d f g, total d f * total d g = Σ i < d, Σ j < d, f i * g j.
Proof.
  intros. transitivity (Σ i < d, total d g * f i).
  - rewrite total_scale. ring.
  - apply total_same. intros. rewrite total_scale. ring.
Qed.

(** A sum in which one term is [a] and the others are [b]. *)
Lemma total_one : forall d i a b, (i < d)%nat ->
  (Σ j < d, if Nat.eq_dec i j then a else b) = a + (INR d - 1) * b.
Proof.
  induction d; intros i a b H; [lia|]. cbn [total]. rewrite S_INR.
  destruct (Nat.eq_dec i d) as [->|N].
  - rewrite (total_same d _ (fun _ => b)), total_const; [ring|].
    intros j Hj. destruct (Nat.eq_dec d j); [lia|reflexivity].
  - rewrite IHd by lia. ring.
Qed.

(** ** Laws *)

(** A law on [Ω]: one mean at most for a random number, the mean of a constant is the constant, means add up,
    a factor comes out, and the mean of what is never negative is not negative. *)
Record law (Ω : Type) := Law {
  mean : (Ω -> R) -> R -> Prop;
  mean_unique : forall X a b, mean X a -> mean X b -> a = b;
  mean_const : forall c, mean (fun _ => c) c;
  mean_plus : forall X Y a b, mean X a -> mean Y b -> mean (fun ω => X ω + Y ω) (a + b);
  mean_scale : forall c X a, mean X a -> mean (fun ω => c * X ω) (c * a);
  mean_positive : forall X a, (forall ω, 0 <= X ω) -> mean X a -> 0 <= a }.
Arguments mean {Ω}. Arguments mean_unique {Ω}. Arguments mean_const {Ω}. Arguments mean_plus {Ω}.
Arguments mean_scale {Ω}. Arguments mean_positive {Ω}.

(** The variance: the mean square of the distance from the mean. *)
Definition variance {Ω} (L : law Ω) (X : Ω -> R) (v : R) : Prop :=
  exists m, mean L X m /\ mean L (fun ω => (X ω - m) ^ 2) v.

(** the two are independent *)
Definition independent {Ω A B} (L : law Ω) (X : Ω -> A) (Y : Ω -> B) : Prop :=
  forall f g a b, mean L (fun ω => f (X ω)) a -> mean L (fun ω => g (Y ω)) b ->
  mean L (fun ω => f (X ω) * g (Y ω)) (a * b).

Section Rules.
  Context {Ω : Type} (L : law Ω).

  (** The same random number, written otherwise, and the same mean, written otherwise. *)
  Lemma mean_as : forall X a Y b, mean L X a -> (forall ω, Y ω = X ω) -> b = a -> mean L Y b.
  Proof. intros X a Y b H HX ->. replace Y with X; [exact H|]. extensionality ω. auto. Qed.

  Lemma mean_total : forall d X m, (forall i, (i < d)%nat -> mean L (X i) (m i)) ->
    mean L (fun ω => Σ i < d, X i ω) (total d m).
  Proof.
    induction d; intros X m H; cbn.
    - apply mean_const.
    - apply mean_plus; [apply IHd; auto | auto].
  Qed.

  Lemma mean_minus : forall X Y a b, mean L X a -> mean L Y b -> mean L (fun ω => X ω - Y ω) (a - b).
  Proof.
    intros X Y a b HX HY.
    refine (mean_as _ _ _ _ (mean_plus L _ _ _ _ HX (mean_scale L (-1) _ _ HY)) _ _); intros; ring.
  Qed.

  Lemma mean_at_most : forall X Y a b, (forall ω, X ω <= Y ω) -> mean L X a -> mean L Y b -> a <= b.
  Proof.
    intros X Y a b H HX HY.
    assert (0 <= b - a); [|lra].
    apply (mean_positive L (fun ω => Y ω - X ω)); [intros; specialize (H ω); lra | apply mean_minus; auto].
  Qed.

  (** The square of a sum, by pairs: its diagonal and the rest. *)
  Lemma mean_square_of_sum : forall d X a b,
    (forall i, (i < d)%nat -> mean L (fun ω => X i ω ^ 2) a) ->
    (forall i j, (i < d)%nat -> (j < d)%nat -> i <> j -> mean L (fun ω => X i ω * X j ω) b) ->
    mean L (fun ω => (Σ i < d, X i ω) ^ 2) (INR d * a + INR d * (INR d - 1) * b).
  Proof.
    intros d X a b Ha Hb.
    eapply mean_as with (X := fun ω => Σ i < d, Σ j < d, X i ω * X j ω).
    - apply mean_total with (m := fun i => Σ j < d, if Nat.eq_dec i j then a else b). intros i Hi.
      apply mean_total with (X := fun j ω => X i ω * X j ω). intros j Hj.
      destruct (Nat.eq_dec i j) as [->|N]; [|auto].
      refine (mean_as _ _ _ _ (Ha j Hj) _ _); intros; ring.
    - intros. rewrite <- total_product. ring.
    - rewrite (total_same _ _ (fun _ => a + (INR d - 1) * b)); [rewrite total_const; ring|].
      intros. apply total_one; auto.
  Qed.

  Lemma variance_from_moments : forall X m s, mean L X m -> mean L (fun ω => X ω ^ 2) s ->
    variance L X (s - m ^ 2).
  Proof.
    intros X m s Hm Hs. exists m. split; [exact Hm|].
    refine (mean_as _ _ _ _ (mean_plus L _ _ _ _ Hs (mean_plus L _ _ _ _
      (mean_scale L (-2 * m) _ _ Hm) (mean_const L (m ^ 2)))) _ _); intros; ring.
  Qed.

  Lemma variance_unique : forall X a b, variance L X a -> variance L X b -> a = b.
  Proof.
    intros X a b (m & Hm & Ha) (n & Hn & Hb).
    rewrite (mean_unique L _ _ _ Hn Hm) in Hb. exact (mean_unique L _ _ _ Ha Hb).
  Qed.

  (** What is fixed is independent of everything. *)
  Lemma independent_of_fixed : forall A B (c : A) (Y : Ω -> B), independent L (fun _ => c) Y.
  Proof. intros A B c Y f g a b Ha Hb. rewrite (mean_unique L _ _ _ Ha (mean_const L (f c))). apply mean_scale, Hb. Qed.

  (** A linear combination of uncorrelated numbers. *)
  Lemma mean_square_of_combination : forall d (c : nat -> R) u s,
    (forall i, (i < d)%nat -> mean L (fun ω => u i ω ^ 2) s) ->
    (forall i j, (i < d)%nat -> (j < d)%nat -> i <> j -> mean L (fun ω => u i ω * u j ω) 0) ->
    mean L (fun ω => (Σ i < d, c i * u i ω) ^ 2) (s * Σ i < d, c i ^ 2).
  Proof.
    intros d c u s S U. rewrite <- total_scale.
    eapply mean_as with (X := fun ω => Σ i < d, Σ j < d, (c i * u i ω) * (c j * u j ω)).
    - apply mean_total with (m := fun i => Σ j < d, if Nat.eq_dec i j then s * c i ^ 2 else 0). intros i Hi.
      apply mean_total with (X := fun j ω => c i * u i ω * (c j * u j ω)). intros j Hj.
      destruct (Nat.eq_dec i j) as [->|N].
      + refine (mean_as _ _ _ _ (mean_scale L (c j ^ 2) _ _ (S j Hj)) _ _); intros; ring.
      + refine (mean_as _ _ _ _ (mean_scale L (c i * c j) _ _ (U i j Hi Hj N)) _ _); intros; ring.
    - intros. rewrite <- total_product. ring.
    - apply total_same. intros. rewrite total_one by assumption. ring.
  Qed.
End Rules.

(** ** Hypotheses on the entries of a random vector, as the theorems name them *)

Section Entries.
  Context {Ω : Type} (L : law Ω) (d : nat) (w : nat -> Ω -> R).

  (** any two entries are independent *)
  Definition independent_entries := forall i j, (i < d)%nat -> (j < d)%nat -> i <> j -> independent L (w i) (w j).

  (** every entry has the mean [m] *)
  Definition entries_mean (m : R) := forall i, (i < d)%nat -> mean L (w i) m.

  (** every entry has the second moment [s] *)
  Definition entries_second_moment (s : R) := forall i, (i < d)%nat -> mean L (fun ω => w i ω ^ 2) s.

  (** every entry has the second moment [s], and the product of any two has some mean *)
  Definition square_means (s : R) :=
    forall i j, (i < d)%nat -> (j < d)%nat -> exists c, mean L (fun ω => w i ω * w j ω) c /\ (i = j -> c = s).

  (** every entry has the fourth moment [f] *)
  Definition entries_fourth_moment (f : R) := forall i, (i < d)%nat -> mean L (fun ω => w i ω ^ 4) f.

  (** the mean product of any two entries is 0 *)
  Definition uncorrelated_entries :=
    forall i j, (i < d)%nat -> (j < d)%nat -> i <> j -> mean L (fun ω => w i ω * w j ω) 0.

  Lemma independent_entries_are_uncorrelated : independent_entries -> entries_mean 0 -> uncorrelated_entries.
  Proof.
    intros I M i j Hi Hj N. replace 0 with (0 * 0) by ring.
    exact (I i j Hi Hj N (fun x => x) (fun x => x) 0 0 (M i Hi) (M j Hj)).
  Qed.

  Lemma square_means_of_uncorrelated : forall s, uncorrelated_entries -> entries_second_moment s -> square_means s.
  Proof.
    intros s U S i j Hi Hj. destruct (Nat.eq_dec i j) as [->|N].
    - exists s. split; [|auto]. refine (mean_as L _ _ _ _ (S j Hj) _ _); intros; ring.
    - exists 0. split; [auto|]. intros; contradiction.
  Qed.
End Entries.

(** the mean exists *)
Definition has_mean {Ω} (L : law Ω) (X : Ω -> R) := exists a, mean L X a.

(** the number and its opposite have one law *)
Definition symmetric {Ω} (L : law Ω) (y : Ω -> R) :=
  forall f a, mean L (fun ω => f (y ω)) a -> mean L (fun ω => f (- y ω)) a.

(** The vector of all entries, for [independent L (vector w) (vector v)]. *)
Definition vector {Ω} (w : nat -> Ω -> R) (ω : Ω) : nat -> R := fun i => w i ω.

(** ** Laws that are built here *)

(** The sum of [X] over the points of a list. *)
Fixpoint over {Ω} (l : list Ω) (X : Ω -> R) : R := match l with [] => 0 | x :: r => X x + over r X end.

(** Equally likely points: the sum over them is the mean times their number. *)
Definition equally_likely {Ω} (x : Ω) (l : list Ω) : law Ω.
Proof.
  assert (P : forall l : list Ω, 0 <= over l (fun _ => 1)) by (induction l0; cbn; lra).
  refine (Law Ω (fun X m => over (x :: l) X = m * over (x :: l) (fun _ => 1)) _ _ _ _ _).
  - intros X a b -> H. apply Rmult_eq_reg_r in H; [exact H|]. cbn. specialize (P l). lra.
  - intros c. generalize (x :: l). induction l0; cbn; lra.
  - intros X Y a b HX HY. rewrite Rmult_plus_distr_r, <- HX, <- HY. clear.
    generalize (x :: l). induction l0; cbn; lra.
  - intros c X a H. rewrite Rmult_assoc, <- H. clear. generalize (x :: l). induction l0; cbn; [ring|]. rewrite IHl0. ring.
  - intros X a HX H. assert (0 <= over (x :: l) X).
    { clear H. generalize (x :: l). induction l0; cbn; [lra|]. specialize (HX a0). lra. }
    rewrite H in H0. cbn in H0. specialize (P l).
    destruct (Rle_lt_dec 0 a) as [|N]; [assumption|].
    assert (a * (1 + over l (fun _ => 1)) < 0); [|lra].
    rewrite <- (Rmult_0_l (1 + over l (fun _ => 1))). apply Rmult_lt_compat_r; lra.
Defined.

Definition two_points {Ω} (a b : Ω) : law Ω := equally_likely a [b].

(** A coin: [s] or [-s]. *)
Definition coin (s : R) : law R := two_points s (- s).

(** A pair of independent draws: the mean over the second, then over the first. *)
Definition pair {A B} (L : law A) (M : law B) : law (A * B).
Proof.
  refine (Law _ (fun X m => exists g, (forall x, mean M (fun y => X (x, y)) (g x)) /\ mean L g m) _ _ _ _ _).
  - intros X a b (g & G & Ha) (h & H & Hb). replace h with g in Hb.
    + exact (mean_unique L _ _ _ Ha Hb).
    + extensionality x. exact (mean_unique M _ _ _ (G x) (H x)).
  - intros c. exists (fun _ => c). split; intros; apply mean_const.
  - intros X Y a b (g & G & Ha) (h & H & Hb). exists (fun x => g x + h x).
    split; intros; apply mean_plus; auto.
  - intros c X a (g & G & Ha). exists (fun x => c * g x). split; intros; apply mean_scale; auto.
  - intros X a P (g & G & Ha). refine (mean_positive L g a _ Ha). intros x.
    exact (mean_positive M _ _ (fun y => P (x, y)) (G x)).
Defined.

Lemma mean_first : forall A B (L : law A) (M : law B) f a, mean L f a -> mean (pair L M) (fun p => f (fst p)) a.
Proof. intros. exists f. split; [exact (fun x => mean_const M (f x)) | auto]. Qed.

Lemma mean_second : forall A B (L : law A) (M : law B) f a, mean M f a -> mean (pair L M) (fun p => f (snd p)) a.
Proof. intros. exists (fun _ => a). split; [intros; exact H | apply mean_const]. Qed.

(** The two parts of a pair are independent: so is what is made of the one and what is made of the other. *)
Lemma pair_independent : forall A B (L : law A) (M : law B), inhabited A -> independent (pair L M) fst snd.
Proof.
  intros A B L M [x0] f g a b (u & U & Ha) (v & V & Hb). cbn in *.
  assert (E : b = v x0).
  { apply (mean_unique L (fun _ => v x0)); [|apply mean_const]. refine (mean_as L _ _ _ _ Hb _ eq_refl).
    intros x. exact (mean_unique M _ _ _ (V x0) (V x)). }
  exists (fun x => f x * b). split.
  - intros. apply mean_scale. rewrite E. apply V.
  - refine (mean_as L _ _ _ _ (mean_scale L b _ _ Ha) _ _); [|ring].
    intros x. rewrite (mean_unique M _ _ _ (U x) (mean_const M (f x))). ring.
Qed.

(** A vector that begins with [x] and goes on with [w]. *)
Definition then_ (x : R) (w : nat -> R) : nat -> R := fun i => match i with O => x | S j => w j end.

(** [d] independent draws from one law: the entries of a vector. *)
Fixpoint copies (d : nat) (L : law R) : law (nat -> R) :=
  match d with
  | O => equally_likely (fun _ => 0) []
  | S c => Law _ (fun X m => mean (pair L (copies c L)) (fun p => X (then_ (fst p) (snd p))) m)
             (fun X => mean_unique _ _) (mean_const _) (fun X Y => mean_plus _ _ _)
             (fun c X => mean_scale _ c _) (fun X a P => mean_positive _ _ a (fun p => P _))
  end.

(** Entry [i] of a drawn vector. *)
Definition entry (i : nat) (w : nat -> R) : R := w i.

Lemma copies_entry : forall L f a d i, (i < d)%nat -> mean L f a -> mean (copies d L) (fun w => f (entry i w)) a.
Proof.
  intros L f a. induction d; intros i Hi H; [lia|]. destruct i; cbn -[pair].
  - apply (mean_first _ _ L (copies d L) f a H).
  - apply (mean_second _ _ L (copies d L) (fun w => f (w i)) a). apply IHd; [lia|auto].
Qed.

Lemma copies_entry_back : forall L f a d i, (i < d)%nat -> mean (copies d L) (fun w => f (entry i w)) a -> mean L f a.
Proof.
  intros L f a. induction d; intros i Hi H; [lia|]. destruct i; destruct H as (g & G & H); cbn in *.
  - replace f with g; [exact H|]. extensionality x. exact (mean_unique _ _ _ _ (G x) (mean_const _ _)).
  - apply (IHd i); [lia|]. replace a with (g 0); [exact (G 0)|].
    apply (mean_unique L g); [|exact H].
    refine (mean_as L _ _ _ _ (mean_const L (g 0)) _ eq_refl). intros x. exact (mean_unique _ _ _ _ (G x) (G 0)).
Qed.

(** The entries are independent by construction. *)
Lemma copies_independent : forall L d, independent_entries (copies d L) d entry.
Proof.
  intros L d i j Hi Hj N f g a b Ha Hb.
  apply copies_entry_back in Ha; [|exact Hi]. apply copies_entry_back in Hb; [|exact Hj].
  revert i j Hi Hj N. induction d; intros i j Hi Hj N; [lia|].
  destruct i, j; [lia| | | ].
  - exists (fun x => f x * b). split.
    + intros. cbn. apply mean_scale. apply (copies_entry L g b d j); [lia|auto].
    + refine (mean_as L _ _ _ _ (mean_scale L b _ _ Ha) _ _); intros; ring.
  - exists (fun x => g x * a). split.
    + intros x. cbn. refine (mean_as _ _ _ _ _ (mean_scale _ (g x) _ _ (copies_entry L f a d i _ Ha)) _ _); [lia| |];
        intros; unfold entry; ring.
    + refine (mean_as L _ _ _ _ (mean_scale L a _ _ Hb) _ _); intros; ring.
  - exists (fun _ => a * b). split; [|apply mean_const].
    intros x. apply (IHd i j); lia.
Qed.

(** A law that cannot tell ω from [T ω]: what differs has no mean. *)
Definition blind {Ω} (T : Ω -> Ω) (L : law Ω) : law Ω.
Proof.
  refine (Law _ (fun X m => (forall ω, X (T ω) = X ω) /\ mean L X m) _ _ _ _ _).
  - intros X a b (_ & Ha) (_ & Hb). exact (mean_unique L _ _ _ Ha Hb).
  - intros. split; [reflexivity | apply mean_const].
  - intros X Y a b (HX & Ha) (HY & Hb). split; [intros; rewrite HX, HY; reflexivity | apply mean_plus; assumption].
  - intros c X a (HX & Ha). split; [intros; rewrite HX; reflexivity | apply mean_scale, Ha].
  - intros X a P (_ & Ha). exact (mean_positive L X a P Ha).
Defined.

Lemma two_points_mean : forall Ω (a b : Ω) f, mean (two_points a b) f ((f a + f b) / 2).
Proof. intros. cbn. field. Qed.

Lemma coin_mean : forall s f, mean (coin s) f ((f s + f (- s)) / 2).
Proof. intros. apply two_points_mean. Qed.

(** [d] coins of size [s]: what most theorems assume of the entries of a vector. *)
Lemma coins_uncorrelated : forall d s, uncorrelated_entries (copies d (coin s)) d entry.
Proof.
  intros. apply independent_entries_are_uncorrelated; [apply copies_independent|].
  intros i Hi. apply (copies_entry (coin s) (fun x => x)); [exact Hi|]. cbn. ring.
Qed.

Lemma coins_mean : forall d s, entries_mean (copies d (coin s)) d entry 0.
Proof. intros d s i Hi. apply (copies_entry (coin s) (fun x => x)); [exact Hi|]. cbn. ring. Qed.

Lemma coins_second_moment : forall d s, entries_second_moment (copies d (coin s)) d entry (s ^ 2).
Proof. intros d s i Hi. apply (copies_entry (coin s) (fun x => x ^ 2)); [exact Hi|]. cbn. ring. Qed.

Lemma coins_fourth_moment : forall d s, entries_fourth_moment (copies d (coin s)) d entry (1 * s ^ 4).
Proof. intros d s i Hi. apply (copies_entry (coin s) (fun x => x ^ 4)); [exact Hi|]. cbn. ring. Qed.

(** ** What a theorem says without one of its hypotheses, and its hypotheses alone

    [~ ltac:(without 2 T)] reads: "[T] without its second hypothesis is false". [ltac:(hypotheses (T L 3))] reads: "what [T]
    assumes of [L] and 3". *)
Ltac drop n T :=
  lazymatch T with
  | ?A -> ?B => lazymatch n with
      | 1%nat => B
      | S ?m => let r := drop m B in constr:(A -> r)
      end
  | forall x : ?A, @?B x => constr:(forall x : A, ltac:(let b := eval cbv beta in (B x) in let r := drop n b in exact r))
  end.
Ltac without n t :=
  lazymatch n with IZR ?z => let m := eval compute in (Z.to_nat z) in let T := type of t in let r := drop m T in exact r end.

Ltac premises T :=
  lazymatch T with
  | ?A -> ?B -> ?C => let r := premises (B -> C) in constr:(A /\ r)
  | ?A -> ?B => A
  end.
Ltac hypotheses t := let T := type of t in let r := premises T in exact r.

(** Two values for one mean. *)
Ltac clash bad good :=
  let E := fresh in
  first [assert (E := mean_unique _ _ _ _ bad good) | assert (E := variance_unique _ _ _ _ bad good)]; cbn in E; lra.

(** Looks at a law of few points and a vector of few entries. *)
Ltac each_index := let j := fresh "j" in intros j; destruct j as [|[|j]].
Ltac each := each_index; intros; try lia.
Ltac each_two := each_index; each_index; intros; try lia.
Ltac by_counting :=
  solve [ lra | lia
        | match goal with
          | |- independent _ (vector (fun _ _ => ?c)) _ => exact (independent_of_fixed _ _ _ (fun _ => c) _)
          | |- independent _ (fun _ => ?c) _ => exact (independent_of_fixed _ _ _ c _)
          | |- square_means _ _ _ _ => first [apply square_means_of_uncorrelated; by_counting
              | each_two; exists 1; (split; [cbn; lra | intros; lra])]
          | |- uncorrelated_entries _ _ _ => each_two; cbn; lra
          | |- independent_entries _ _ _ => each_two; cbv beta; apply independent_of_fixed
          | |- entries_mean _ _ _ _ => each; cbn; lra
          | |- entries_second_moment _ _ _ _ => each; cbn; lra
          | |- entries_fourth_moment _ _ _ _ => each; cbn; lra
          end
        | cbn; lra ].

(** [F], a theorem without one of its hypotheses, at a law of few points that has the others: false. *)
Ltac has_the_others F := repeat lazymatch type of F with ?P -> _ => specialize (F ltac:(by_counting)) end.
Ltac counted_out F := exfalso; has_the_others F; cbn in F; lra.
Ltac counted_out_at F c :=
  exfalso; has_the_others F; let m := fresh in let M := fresh in let V := fresh in
  destruct F as (m & M & V); cbn in M, V; replace m with c in V by lra; lra.
