/** What a reason means, and what a person can do about it. */
export type Row =
  | string
  | {
      means: string;
      help: string;
      /** Commands. NAME, NAMESPACE, SECRET, CONFIGMAP, DATAVOLUME, KIND and KEY are placeholders for what the object names. */
      run?: readonly string[];
    };
