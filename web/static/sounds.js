// Short sounds, made here.

const NOTES = { move: [330], turn: [587, 880], over: [523, 659, 784] }; // in hertz, one after the other
const [STEP, LENGTH, LOUD] = [0.13, 0.35, 0.12]; // seconds, seconds, and of 1

let context = null;

/** Make a sound. */
export function hear(sound) {
  context ??= new AudioContext();
  context.resume();
  NOTES[sound].forEach((frequency, place) => {
    const begin = context.currentTime + place * STEP;
    const [tone, volume] = [new OscillatorNode(context, { frequency, type: "triangle" }), new GainNode(context, { gain: 0 })];
    volume.gain.setValueAtTime(LOUD, begin);
    volume.gain.exponentialRampToValueAtTime(0.001, begin + LENGTH);
    tone.connect(volume).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH);
  });
}
