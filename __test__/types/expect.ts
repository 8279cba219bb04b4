// Says what a type is. `same<A, B>()` takes no argument when both are the same type, and one that cannot be given when not.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export declare function same<A, B>(...proof: Same<A, B> extends true ? [] : [never]): void;
