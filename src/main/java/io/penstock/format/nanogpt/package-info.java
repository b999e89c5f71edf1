/** Raw tokens without a header, as nanoGPT prepares them ({@code data/.../prepare.py}). */
package io.penstock.format.nanogpt;
