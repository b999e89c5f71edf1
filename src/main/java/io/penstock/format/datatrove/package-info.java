/** datatrove's tokenized files ({@code datatrove/pipeline/tokens/tokenizer.py}). */
package io.penstock.format.datatrove;
