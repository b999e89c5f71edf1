// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;

/**
 * Which frames a clip has: each {@code stride}-th, or those that are shown at {@code fps} a second. Integers of the
 * index alone decide.
 *
 * @param frames of a clip
 * @param stride from one frame to the next; 0 if they are chosen by time
 * @param fps frames a second; 0 if they are chosen by number
 * @param tooShort what becomes of a short video
 */
record ClipTimes(int frames, int stride, int fps, TooShort tooShort) {

    /** Counts the frames at which a clip can begin and fit; 0 if the video is too short. */
    int starts(PacketTable video) {
        if (fps == 0) {
            return (int) Math.max(0, video.frames - (frames - 1L) * stride);
        }
        int low = 0;
        int high = video.frames;
        while (low < high) {
            int middle = low + high >>> 1;
            if (at(video, middle, frames - 1, video.frames) < 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /**
     * Chooses the frames of a clip.
     *
     * @param video the video
     * @param start its first frame
     * @param into receives the number of each frame
     * @param at the first index
     * @throws CodecException if the video is too short and that is refused
     */
    void choose(PacketTable video, int start, int[] into, int at) {
        int within = 0;
        while (within < frames && find(video, start, within) >= 0) {
            into[at + within] = find(video, start, within);
            within++;
        }
        if (within < frames && tooShort == TooShort.REFUSE || within == 0) {
            throw new CodecException("a video of " + video.frames + " frames", this + " or more");
        }
        for (int i = within; i < frames; i++) {
            into[at + i] = tooShort == TooShort.WRAP ? into[at + i % within] : video.frames - 1;
        }
    }

    /** Returns the frame of a clip by its number, -1 if it is behind the end of the video. */
    private int find(PacketTable video, int start, int number) {
        if (fps == 0) {
            long frame = start + (long) number * stride;
            return frame < video.frames ? (int) frame : -1;
        }
        return at(video, start, number, video.frames);
    }

    /**
     * Returns the last frame that is shown not later than {@code number / fps} seconds after frame {@code start}; -1
     * if that is behind the last frame's time.
     */
    private int at(PacketTable video, int start, int number, int end) {
        long first = pts(video, start);
        long due = (long) number * video.denominator;
        // Of integers, x * fps < due as x < ceil(due / fps): a product with fps might not fit.
        if ((pts(video, end - 1) - first) * video.numerator < Math.ceilDiv(due, fps)) {
            return -1;
        }
        int low = start;
        int high = end;
        while (high - low > 1) {
            int middle = low + high >>> 1;
            if ((pts(video, middle) - first) * video.numerator <= due / fps) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static long pts(PacketTable video, int frame) {
        return video.pts[video.packetOf[frame]];
    }

    @Override
    public String toString() {
        return frames + " frames " + (fps == 0 ? "at stride " + stride : "at " + fps + " a second");
    }
}
